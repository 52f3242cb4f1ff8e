"""Signals that ask to stop: heard wherever they arrive."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from typing import Any, Final

EXIT_INTERRUPTED: Final = 130
EXIT_TERMINATED: Final = 143
# Seconds after which a signal that was lost is sent once more.
_AGAIN: Final = 0.05


def hear_signals() -> None:
    """Make an interrupt and a request to end exceptions, and let none of them get lost.

    Notes
    -----
    Python raises what a signal's handler raises in whatever runs at that moment. In a finaliser or
    in the callback of a weak reference it is printed and forgotten, and the command would go on as
    if nobody had asked. Here such a signal is sent again a moment later.
    """
    # As an exception, so that what is half done is cleared away on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_TERMINATED))
    sys.unraisablehook = _send_again


def _send_again(lost: Any) -> None:
    if issubclass(lost.exc_type, KeyboardInterrupt):
        number = signal.SIGINT
    elif issubclass(lost.exc_type, SystemExit) and lost.exc_value.code == EXIT_TERMINATED:
        number = signal.SIGTERM
    else:
        sys.__unraisablehook__(lost)
        return
    # From another thread, since an exception in this function would be lost as well.
    timer = threading.Timer(_AGAIN, _send, args=(number,))
    timer.daemon = True
    timer.start()


def _send(number: signal.Signals) -> None:
    """Send a signal to the main thread, which may be waiting in a call of the system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)
