"""What is asked: populations, anchors, reversals and their controls."""
