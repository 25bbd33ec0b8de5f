#!/usr/bin/env bash
# Prepaid credits with a top-up: the customer buys 50 dollars, uses some, and is sold more when less than 10 are left.
#
#   TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=… bash examples/curl/prepaid.sh
set -euo pipefail

: "${TALLYHOUSE_URL:?}" "${TALLYHOUSE_TOKEN:?}"
MONTH_START=$(date -u +%Y-%m-01T00:00:00Z)
NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
ALIAS=prepaid-$$-$RANDOM$RANDOM

api() {
  curl -sS --fail-with-body -X "$1" "$TALLYHOUSE_URL$2" -H "Authorization: Bearer $TALLYHOUSE_TOKEN" \
    -H 'Content-Type: application/json' ${3:+-d "$3"}
}
# The id in an answer to a creation.
id() { sed -E 's/^\{"data":\{"id":"([^"]+)".*/\1/'; }
# Cents that the customer has left.
balance() { api POST /v1/contracts/customerBalances/getNetBalance '{"customer_id": "'"$CUSTOMER"'"}' | sed -E 's/.*"balance":([0-9.]+).*/\1/'; }
use() {
  api POST /v1/ingest '[{"transaction_id": "'"$ALIAS-$1"'", "customer_id": "'"$ALIAS"'", "event_type": "image",
    "timestamp": "'"$NOW"'", "properties": {"images": "'"$2"'"}}]' > /dev/null
}

METRIC=$(api POST /v1/billable-metrics/create '{"name": "Images", "aggregation_type": "SUM", "aggregation_key": "images",
  "event_type_filter": {"in_values": ["image"]}, "property_filters": [{"name": "images", "exists": true}]}' | id)
IMAGES=$(api POST /v1/contract-pricing/products/create '{"name": "Images", "type": "USAGE", "billable_metric_id": "'"$METRIC"'"}' | id)
CREDITS=$(api POST /v1/contract-pricing/products/create '{"name": "Prepaid credits", "type": "FIXED"}' | id)
CARD=$(api POST /v1/contract-pricing/rate-cards/create '{"name": "Images"}' | id)
api POST /v1/contract-pricing/rate-cards/addRate '{"rate_card_id": "'"$CARD"'", "product_id": "'"$IMAGES"'", "entitled": true,
  "starting_at": "2026-01-01T00:00:00Z", "rate_type": "FLAT", "price": 4}' > /dev/null
CUSTOMER=$(api POST /v1/customers '{"name": "Prepaid", "ingest_aliases": ["'"$ALIAS"'"]}' | id)

# 50 dollars now; when 10 or less are left, as much as brings them to 50. payment_gate_type STRIPE collects the money first.
api POST /v1/contracts/create '{"customer_id": "'"$CUSTOMER"'", "rate_card_id": "'"$CARD"'", "starting_at": "'"$MONTH_START"'",
  "commits": [{"type": "PREPAID", "name": "First purchase", "product_id": "'"$CREDITS"'",
    "access_schedule": {"schedule_items": [{"amount": 5000, "starting_at": "'"$MONTH_START"'", "ending_before": "2100-01-01T00:00:00Z"}]},
    "invoice_schedule": {"schedule_items": [{"amount": 5000, "timestamp": "'"$MONTH_START"'"}]}}],
  "prepaid_balance_threshold_configuration": {"is_enabled": true, "threshold_amount": 1000, "recharge_to_amount": 5000,
    "commit": {"product_id": "'"$CREDITS"'"}, "payment_gate_config": {"payment_gate_type": "NONE"}}}' > /dev/null
echo "bought: $(balance) cents"

use 1 500
echo "after 500 images: $(balance) cents"

use 2 600
for _ in $(seq 1 60); do
  LEFT=$(balance)
  [ "$LEFT" = 5000 ] && break
  sleep 0.5
done
echo "after 600 more, and the top-up: $LEFT cents"
[ "$LEFT" = 5000 ]
