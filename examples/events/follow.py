"""Prints events as they are recorded, one JSON object a line, with Python's standard library alone.

    TRADEPORT_KEY=tp_live_... python3 follow.py [id of the last event that you have]

Whenever the connection ends it resumes after the last event. TRADEPORT_URL names another service.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

BASE_URL = os.environ.get("TRADEPORT_URL", "http://127.0.0.1:3000/api/v1")
KEY = os.environ.get("TRADEPORT_KEY") or sys.exit("Set TRADEPORT_KEY to an API key.")
# The service sends at least a comment every 15 seconds.
SILENCE_SECONDS = 45


def frames(lines):
    """The fields of each server-sent event; one that was cut off is left out."""
    fields = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name != "":
            fields[name] = value
        else:
            yield fields
            fields = {}


def follow(last=None):
    retry_seconds = 2.0
    while True:
        headers = {"X-API-Key": KEY}
        if last is not None:
            headers["Last-Event-ID"] = last
        request = urllib.request.Request(f"{BASE_URL}/events/stream", headers=headers)
        wait_seconds = ""
        try:
            with urllib.request.urlopen(request, timeout=SILENCE_SECONDS) as stream:
                for fields in frames(stream):
                    if fields.get("retry", "").isdigit():
                        retry_seconds = int(fields["retry"]) / 1_000
                    if "data" in fields:
                        yield json.loads(fields["data"])
                    last = fields.get("id", last)
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                sys.exit(f"{error.code} {error.read().decode()}")
            wait_seconds = error.headers.get("Retry-After", "")
        except (OSError, http.client.HTTPException):
            pass
        # A proxy may send a date instead of seconds.
        time.sleep(float(wait_seconds) if wait_seconds.isdigit() else retry_seconds)


try:
    for event in follow(*sys.argv[1:2]):
        print(json.dumps(event), flush=True)
except KeyboardInterrupt:
    pass
except BrokenPipeError:
    # Whoever read the output has gone; Python would fail once more when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
