"""An enterprise contract: a commitment for the month, a discount, and a true-up of what is left of it.

TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=... python3 examples/python/enterprise.py
"""

import json
import os
import urllib.request
import uuid
from datetime import datetime, timezone
from decimal import Decimal

URL = os.environ["TALLYHOUSE_URL"].rstrip("/")
TOKEN = os.environ["TALLYHOUSE_TOKEN"]
NOW = datetime.now(timezone.utc)
MONTH_START = NOW.strftime("%Y-%m-01T00:00:00Z")
NEXT_MONTH = f"{NOW.year + NOW.month // 12}-{NOW.month % 12 + 1:02}-01T00:00:00Z"
# 1,000 dollars, in cents.
COMMITMENT = 100_000


def call(method, path, body=None):
    """The answer, with numbers as exact decimals. A refusal ends the program with its text."""
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read(), parse_float=Decimal, parse_int=Decimal)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method} {path}: {error.code} {error.read().decode()}") from error


def created(path, body):
    return call("POST", path, body)["data"]["id"]


metric = created(
    "/v1/billable-metrics/create",
    {
        "name": "GPU hours",
        "aggregation_type": "SUM",
        "aggregation_key": "hours",
        "event_type_filter": {"in_values": ["gpu"]},
        "property_filters": [{"name": "hours", "exists": True}],
    },
)
hours = created(
    "/v1/contract-pricing/products/create",
    {"name": "GPU hours", "type": "USAGE", "billable_metric_id": metric},
)
commitment = created("/v1/contract-pricing/products/create", {"name": "Commitment", "type": "FIXED"})
card = created("/v1/contract-pricing/rate-cards/create", {"name": "List prices"})
call(
    "POST",
    "/v1/contract-pricing/rate-cards/addRate",
    {
        "rate_card_id": card,
        "product_id": hours,
        "starting_at": "2026-01-01T00:00:00Z",
        "entitled": True,
        "rate_type": "FLAT",
        "price": 250,
    },
)

alias = f"enterprise-{uuid.uuid4()}"
customer = created("/v1/customers", {"name": "Enterprise", "ingest_aliases": [alias]})
created(
    "/v1/contracts/create",
    {
        "customer_id": customer,
        "rate_card_id": card,
        "starting_at": MONTH_START,
        "overrides": [
            # A tenth less than the list price.
            {
                "type": "MULTIPLIER",
                "multiplier": 0.9,
                "starting_at": MONTH_START,
                "override_specifiers": [{"product_id": hours}],
            }
        ],
        "commits": [
            {
                "type": "POSTPAID",
                "name": "Monthly commitment",
                "product_id": commitment,
                "access_schedule": {
                    "schedule_items": [
                        {"amount": COMMITMENT, "starting_at": MONTH_START, "ending_before": NEXT_MONTH}
                    ]
                },
                "invoice_schedule": {"schedule_items": [{"timestamp": NEXT_MONTH, "amount": COMMITMENT}]},
            }
        ],
    },
)
call(
    "POST",
    "/v1/ingest",
    [
        {
            "transaction_id": f"{alias}-1",
            "customer_id": alias,
            "event_type": "gpu",
            "timestamp": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "properties": {"hours": "160.5"},
        }
    ],
)

totals = {}
for invoice in call("GET", f"/v1/customers/{customer}/invoices?status=DRAFT")["data"]:
    totals[invoice["type"]] = invoice["total"]
    print(f"{invoice['type']}: {invoice['total']} cents")
# 160.5 hours at 2.25 dollars, and what is left of the commitment.
assert totals["USAGE"] == Decimal("36112.5")
assert totals["SCHEDULED"] == COMMITMENT - Decimal("36112.5")
print(f"together: {sum(totals.values())} cents")
