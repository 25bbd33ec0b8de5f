-- Events that were sent again with an id that was known already: nothing counts them, event search shows
-- them. A sample under load, written beside the way of the events, so nothing here is fsynced.
--
-- A row goes away 35 days after it was written by the clock of the server, which is not the clock of the
-- service where that is a sandbox; readers compare `received_at`.
CREATE TABLE IF NOT EXISTS event_repeats${LOCAL} ${ON_CLUSTER}
(
  transaction_id String               COMMENT 'Identity of the event, known before',
  customer_ref   String               COMMENT 'Customer id or ingest alias, exactly as sent',
  event_type     String,
  timestamp      DateTime64(3, 'UTC') COMMENT 'As sent; may differ from that of the event that counts',
  properties     String               COMMENT 'JSON object of the texts of the values',
  received_at    DateTime64(3, 'UTC') COMMENT 'When it came, by the clock of the service',
  sequence       UInt32               COMMENT 'Order of rows that came in the same millisecond',
  written_at     DateTime('UTC') DEFAULT now('UTC')
)
ENGINE = ${REPLICATED}MergeTree
PARTITION BY toYYYYMMDD(written_at)
ORDER BY (transaction_id, received_at, sequence)
TTL written_at + INTERVAL 35 DAY
SETTINGS ttl_only_drop_parts = 1;

-- only on a cluster
CREATE TABLE IF NOT EXISTS event_repeats ${ON_CLUSTER}
AS event_repeats${LOCAL}
ENGINE = Distributed(${CLUSTER}, currentDatabase(), event_repeats${LOCAL}, sipHash64(transaction_id));
