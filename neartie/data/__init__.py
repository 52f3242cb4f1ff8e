"""Ground floor: responses, readers, simulators and the bundled example."""
