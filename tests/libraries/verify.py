"""Judges signed requests by the official Python library: a list of them as JSON comes in, a list of true and false
goes out."""

import base64
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def holds(request):
    try:
        Webhook(request["secret"]).verify(base64.b64decode(request["body"]), request["headers"])
    except WebhookVerificationError:
        return False
    return True


json.dump([holds(request) for request in json.load(sys.stdin)], sys.stdout)
