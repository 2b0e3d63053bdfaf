"""The connection to the parent process: lines of JSON in both directions.

In: lines on stdin. Out: lines on stdout, which nothing else writes to from then on.
"""

import json
import os
import queue
import threading


class Channel:
    """Both ends of the connection. Libraries' output on stdout goes to stderr."""

    def __init__(self):
        self.requests = queue.SimpleQueue()
        self._in = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        # Child processes of libraries must not keep the connection open.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        # A thread reads, so that the parent's end is noticed during a measurement too.
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._in:
            self.requests.put(line)
        os._exit(0)

    def say(self, message):
        try:
            self._out.write(json.dumps(message, allow_nan=False) + "\n")
            self._out.flush()
        except BrokenPipeError:
            os._exit(0)
