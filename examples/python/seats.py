"""An API that is sold by seats, with calls included and overage: plain HTTP, standard library alone.

TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=... python3 examples/python/seats.py
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


def draft_total(customer):
    [draft] = call("GET", f"/v1/customers/{customer}/invoices?status=DRAFT")["data"]
    for line in draft["line_items"]:
        print(f"  {line['name']}: {line['quantity']} x {line['unit_price']} = {line['total']} cents")
    print(f"  total: {draft['total']} cents")
    return draft["total"]


metric = created(
    "/v1/billable-metrics/create",
    {
        "name": "Calls",
        "aggregation_type": "COUNT",
        "event_type_filter": {"in_values": ["api_call"]},
    },
)
calls = created(
    "/v1/contract-pricing/products/create",
    {"name": "Calls", "type": "USAGE", "billable_metric_id": metric},
)
seats = created("/v1/contract-pricing/products/create", {"name": "Seats", "type": "SUBSCRIPTION"})
card = created("/v1/contract-pricing/rate-cards/create", {"name": "Team plan"})
since = {"starting_at": "2026-01-01T00:00:00Z", "entitled": True}
call(
    "POST",
    "/v1/contract-pricing/rate-cards/addRates",
    {
        "rate_card_id": card,
        "rates": [
            # 20 dollars for a seat and month.
            {**since, "product_id": seats, "rate_type": "FLAT", "price": 2000, "billing_frequency": "MONTHLY"},
            # Ten calls are included, each further one costs half a cent.
            {**since, "product_id": calls, "rate_type": "TIERED", "tiers": [{"size": 10, "price": 0}, {"price": 0.5}]},
        ],
    },
)

alias = f"team-{uuid.uuid4()}"
customer = created("/v1/customers", {"name": "A team", "ingest_aliases": [alias]})
contract = created(
    "/v1/contracts/create",
    {
        "customer_id": customer,
        "rate_card_id": card,
        "starting_at": MONTH_START,
        "subscriptions": [
            {
                "subscription_rate": {"billing_frequency": "MONTHLY", "product_id": seats},
                "collection_schedule": "ARREARS",
                "initial_quantity": 5,
                "proration": {"is_prorated": False, "invoice_behavior": "BILL_ON_NEXT_COLLECTION_DATE"},
            }
        ],
    },
)

events = [
    {
        "transaction_id": f"{alias}-{number}",
        "customer_id": alias,
        "event_type": "api_call",
        "timestamp": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    for number in range(14)
]
call("POST", "/v1/ingest", events)
print("five seats, four calls more than are included:")
assert draft_total(customer) == 5 * 2000 + 4 * Decimal("0.5")

subscription = call("POST", "/v2/contracts/get", {"customer_id": customer, "contract_id": contract})["data"][
    "subscriptions"
][0]["id"]
call(
    "POST",
    "/v2/contracts/edit",
    {
        "customer_id": customer,
        "contract_id": contract,
        "update_subscriptions": [
            {
                "subscription_id": subscription,
                "quantity_updates": [{"starting_at": MONTH_START, "quantity": 7}],
            }
        ],
    },
)
print("two more seats:")
assert draft_total(customer) == 7 * 2000 + 4 * Decimal("0.5")
