/** The forms of bodies that are read in one pass (`read-plain-events.ts`): events of usage, and CloudEvents. */
import { CLOUD_EVENTS_MAX, type CloudEventIdentity, SPEC_VERSION } from './cloud-events.ts';
import { EVENTS_PER_REQUEST_MAX } from './event-limits.ts';

/** Members by number, those of a row first and in its order. */
export const TRANSACTION_ID = 0;
export const CUSTOMER_ID = 1;
export const EVENT_TYPE = 2;
export const TIMESTAMP = 3;
export const PROPERTIES = 4;
/** Of CloudEvents only. */
export const SOURCE = 5;
const SPEC_VERSION_MEMBER = 6;
const DATA_TYPE = 7;
export const MEMBERS = 8;

/** How events are written: their members by name, and those that each has. */
export interface PlainForm {
  readonly names: readonly (readonly [name: Buffer, member: number])[];
  /** One bit for each member. */
  readonly required: number;
  readonly eventsMax: number;
  /** One event may be the whole body. */
  readonly mayBeSingle: boolean;
  /** Texts that a member must have to be plain. */
  readonly fixed: ReadonlyMap<number, Buffer>;
  /** Whether the id begins with the source and a slash. Slashes of the id itself are left to the general reader. */
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

/** CloudEvents without extensions. The time may be left out, and becomes the present one. */
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
