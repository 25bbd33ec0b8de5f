/** The forms of bodies that are parsed in one pass (`read-plain-events.ts`): usage events, and CloudEvents. */
import { CLOUD_EVENTS_MAX, type CloudEventIdentity, SPEC_VERSION } from './cloud-events.ts';
import { EVENTS_PER_REQUEST_MAX } from './event-limits.ts';

/** Members by number, the row's own first and in its order. */
export const TRANSACTION_ID = 0;
export const CUSTOMER_ID = 1;
export const EVENT_TYPE = 2;
export const TIMESTAMP = 3;
export const PROPERTIES = 4;
/** For CloudEvents only. */
export const SOURCE = 5;
const SPEC_VERSION_MEMBER = 6;
const DATA_TYPE = 7;
export const MEMBERS = 8;

/** The form of events: their members by name, and the required ones. */
export interface PlainForm {
  readonly names: readonly (readonly [name: Buffer, member: number])[];
  /** One bit for each member. */
  readonly required: number;
  readonly eventsMax: number;
  /** Whether the body may be a single event. */
  readonly mayBeSingle: boolean;
  /** Values that a member must have to be plain. */
  readonly fixed: ReadonlyMap<number, Buffer>;
  /** Whether the id is prefixed by the source and a slash. Slashes in the id itself are left to the general reader. */
  readonly hasSourceInId: boolean;
}

function namesOf(members: Readonly<Record<string, number>>): PlainForm['names'] {
  return Object.entries(members).map(([name, member]) => [Buffer.from(`${name}"`), member]);
}

export const PLAIN_EVENTS: PlainForm = {
  names: namesOf({
    transaction_id: TRANSACTION_ID,
    customer_id: CUSTOMER_ID,
    event_type: EVENT_TYPE,
    timestamp: TIMESTAMP,
    properties: PROPERTIES,
  }),
  required: 0b1111,
  eventsMax: EVENTS_PER_REQUEST_MAX,
  mayBeSingle: false,
  fixed: new Map(),
  hasSourceInId: false,
};

/** CloudEvents without extensions. The time may be omitted, and defaults to now. */
export function plainCloudEvents(identity: CloudEventIdentity): PlainForm {
  return {
    names: namesOf({
      id: TRANSACTION_ID,
      subject: CUSTOMER_ID,
      type: EVENT_TYPE,
      time: TIMESTAMP,
      data: PROPERTIES,
      source: SOURCE,
      specversion: SPEC_VERSION_MEMBER,
      datacontenttype: DATA_TYPE,
    }),
    required: 0b110_0111,
    eventsMax: CLOUD_EVENTS_MAX,
    mayBeSingle: true,
    fixed: new Map([
      [SPEC_VERSION_MEMBER, Buffer.from(SPEC_VERSION)],
      [DATA_TYPE, Buffer.from('application/json')],
    ]),
    hasSourceInId: identity === 'source-and-id',
  };
}
