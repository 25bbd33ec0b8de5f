/** One prepared ingest request of a connection: its ids are patched in place for every sending. */
const MODELS = ['aurora-large', 'aurora-small', 'borealis-70b', 'embedding-3'];
const REGIONS = ['us-east-1', 'eu-west-1', 'ap-south-1'];
const CUSTOMERS_DEFAULT = 1000;
const SEQUENCE_DIGITS = 8;

export interface RequestOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly eventsPerRequest: number;
  /** Makes the ids of this run different from those of any other run. */
  readonly run: string;
  /** Events are dated up to this many minutes back. */
  readonly spreadMinutes: number;
  /** Epoch milliseconds of the newest events; now unless given. */
  readonly at?: number;
  /** `customer-0`, `customer-1`, …; 1,000 unless given. */
  readonly customers?: number;
  /** How the events are written; as `POST /v1/ingest` takes them unless given. */
  readonly form?: 'events' | 'cloudevents';
}

export interface PreparedRequest {
  /** The bytes to send, with ids never sent before. Valid until the next call. */
  next(): Buffer;
  readonly bytesPerEvent: number;
}

export function prepareRequest(options: RequestOptions, connection: number): PreparedRequest {
  const isCloudEvents = options.form === 'cloudevents';
  const events = Array.from({ length: options.eventsPerRequest }, (_, index) => {
    const event = sampleEvent(options, connection, index);
    return JSON.stringify(isCloudEvents ? asCloudEvent(event) : event);
  });
  const body = `[${events.join(',')}]`;
  const path = isCloudEvents ? '/v1/ingest/cloudevents' : '/v1/ingest';
  const type = isCloudEvents ? 'application/cloudevents-batch+json' : 'application/json';
  const head =
    `POST ${path} HTTP/1.1\r\nhost: ${options.host}:${options.port}\r\n` +
    `authorization: Bearer ${options.token}\r\ncontent-type: ${type}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const bytes = Buffer.from(head + body);
  const offsets = sequenceOffsets(bytes);
  let sequence = 0;
  return {
    bytesPerEvent: Buffer.byteLength(body) / options.eventsPerRequest,
    next() {
      sequence += 1;
      const digits = Buffer.from(String(sequence).padStart(SEQUENCE_DIGITS, '0'), 'latin1');
      for (const offset of offsets) bytes.set(digits, offset);
      return bytes;
    },
  };
}

const SEQUENCE_MARK = '#'.repeat(SEQUENCE_DIGITS);

/** About 300 bytes and six properties, two of them numbers: the record of a request to a language model. */
function sampleEvent(options: RequestOptions, connection: number, index: number) {
  const number = connection * options.eventsPerRequest + index;
  const age = ((number * 7919) % (options.spreadMinutes * 60_000 + 1)) + 1;
  return {
    transaction_id: `${options.run}-${connection}-${index}-${SEQUENCE_MARK}`,
    customer_id: `customer-${(number * 31) % (options.customers ?? CUSTOMERS_DEFAULT)}`,
    event_type: 'llm_request',
    timestamp: new Date((options.at ?? Date.now()) - age).toISOString(),
    properties: {
      model: MODELS[number % MODELS.length],
      region: REGIONS[number % REGIONS.length],
      input_tokens: (number * 37) % 8000,
      output_tokens: (number * 11) % 900,
      cached: number % 5 === 0 ? 'true' : 'false',
      request_id: `req_${(number * 2_654_435_761).toString(16)}`,
    },
  };
}

function asCloudEvent(event: ReturnType<typeof sampleEvent>) {
  return {
    specversion: '1.0',
    id: event.transaction_id,
    source: 'bench',
    type: event.event_type,
    subject: event.customer_id,
    time: event.timestamp,
    data: event.properties,
  };
}

function sequenceOffsets(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(SEQUENCE_MARK); at >= 0; at = bytes.indexOf(SEQUENCE_MARK, at + 1))
    offsets.push(at);
  return offsets;
}
