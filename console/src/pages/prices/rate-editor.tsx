/** The fields of a rate of any type; input is stored in the draft in the address. */
import { useState } from 'react';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { unitText } from '../../format/money.ts';
import { Field, Filters } from '../../parts/page.tsx';
import { Problem } from '../../parts/states.tsx';
import type { Catalogue } from './catalogue.ts';
import { type DraftRate, isPercentageType } from './price-draft.ts';
import styles from './prices.module.css';
import {
  type EditedRate,
  editedOf,
  hasTiers,
  type Place,
  rateOf,
  TYPE_NAMES,
  TYPES,
  withoutTier,
  withTier,
  withType,
} from './rate-edit.ts';

interface RateEditorProps {
  readonly catalogue: Catalogue;
  readonly productType: Schemas['Product']['type'];
  readonly place: Place;
  /** The initial values of the fields. */
  readonly start: DraftRate;
  readonly isInDraft: boolean;
  /** The problem of the chosen values. */
  readonly problem?: string | null;
  /** Stores the rate in the draft; null removes it. */
  put(rate: DraftRate | null): void;
}

export function RateEditor(props: RateEditorProps) {
  const { catalogue, place, isInDraft, put } = props;
  const [edited, setEdited] = useState(() => editedOf(props.start, catalogue));
  const [problem, setProblem] = useState<string | null>(null);
  const change = () => {
    const rate = props.problem ?? rateOf(edited, place, catalogue);
    setProblem(typeof rate === 'string' ? rate : null);
    if (typeof rate !== 'string') put(rate);
  };
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        change();
      }}
    >
      <Kind {...props} edited={edited} set={setEdited} />
      {hasTiers(edited.type) ? (
        <Tiers edited={edited} catalogue={catalogue} set={setEdited} />
      ) : (
        <OnePrice edited={edited} catalogue={catalogue} set={setEdited} />
      )}
      <Extras edited={edited} catalogue={catalogue} set={setEdited} />
      {place.commit === undefined ? null : <p className="soft small">The commit price does not change.</p>}
      <Filters>
        <button type="submit">Put into the draft</button>
        {isInDraft ? (
          <button type="button" data-kind="plain" onClick={() => put(null)}>
            Take out of the draft
          </button>
        ) : null}
      </Filters>
      <Problem text={problem} />
    </form>
  );
}

interface Fields {
  readonly edited: EditedRate;
  readonly catalogue: Catalogue;
  set(edited: EditedRate): void;
}

/** Which type of rate, in which unit. */
function Kind({
  edited,
  catalogue,
  set,
  productType,
}: Fields & { readonly productType: RateEditorProps['productType'] }) {
  const types = TYPES[productType];
  return (
    <Filters>
      {types.length < 2 ? null : (
        <Field label="Kind of price">
          <select
            value={edited.type}
            onChange={({ target }) => set(withType(edited, target.value as EditedRate['type']))}
          >
            {types.map((type) => (
              <option key={type} value={type}>
                {TYPE_NAMES[type]}
              </option>
            ))}
          </select>
        </Field>
      )}
      {isPercentageType(edited.type) || catalogue.units.length < 2 ? null : (
        <Field label="Unit">
          <select value={edited.unit} onChange={({ target }) => set({ ...edited, unit: target.value })}>
            {catalogue.units.map((unit) => (
              <option key={unit.id} value={unit.id}>
                {unitText(unit)}
              </option>
            ))}
          </select>
        </Field>
      )}
    </Filters>
  );
}

function unitOf(edited: EditedRate, catalogue: Catalogue): string {
  if (isPercentageType(edited.type)) return '%';
  return unitText(catalogue.unit(edited.unit) ?? catalogue.fiat);
}

function Digits(props: { readonly label: string; readonly value: string; set(value: string): void }) {
  return (
    <Field label={props.label}>
      <input
        inputMode="decimal"
        size={12}
        value={props.value}
        onChange={({ target }) => props.set(target.value)}
      />
    </Field>
  );
}

function OnePrice({ edited, catalogue, set }: Fields) {
  return (
    <Filters>
      <Digits
        label={`Price, ${unitOf(edited, catalogue)}`}
        value={edited.tiers[0]?.price ?? ''}
        set={(price) => set({ ...edited, tiers: [{ size: '', price }] })}
      />
    </Filters>
  );
}

function Tiers({ edited, catalogue, set }: Fields) {
  const { tiers } = edited;
  const put = (at: number, change: Partial<EditedRate['tiers'][number]>) =>
    set({ ...edited, tiers: tiers.map((tier, index) => (index === at ? { ...tier, ...change } : tier)) });
  const of = isPercentageType(edited.type) ? 'of the base, as the API counts it' : 'units';
  return (
    <>
      {tiers.map(({ size, price }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a tier is known by its place.
        <Filters key={at}>
          {at === tiers.length - 1 ? (
            <span className={styles.rest}>Tier {at + 1}: all above</span>
          ) : (
            <Digits
              label={`Tier ${at + 1} holds, ${of}`}
              value={size}
              set={(value) => put(at, { size: value })}
            />
          )}
          <Digits
            label={`Price of tier ${at + 1}, ${unitOf(edited, catalogue)}`}
            value={price}
            set={(value) => put(at, { price: value })}
          />
          {tiers.length > 1 ? (
            <button type="button" data-kind="plain" onClick={() => set(withoutTier(edited, at))}>
              Remove tier {at + 1}
            </button>
          ) : null}
        </Filters>
      ))}
      <div>
        <button type="button" disabled={tiers.length >= TIERS_MAX} onClick={() => set(withTier(edited))}>
          Add a tier
        </button>
      </div>
    </>
  );
}

/** More tiers than are entered by hand; `addRates` accepts more. */
const TIERS_MAX = 50;

/** The fields that only some types have, and whether contracts on the card are entitled to the product by default. */
function Extras({ edited, catalogue, set }: Fields) {
  return (
    <Filters>
      {isPercentageType(edited.type) ? (
        <Digits
          label={`At least in a period, ${unitText(catalogue.fiat)} (may be empty)`}
          value={edited.minimum}
          set={(minimum) => set({ ...edited, minimum })}
        />
      ) : null}
      {edited.type === 'SUBSCRIPTION' ? (
        <Digits
          label="Quantity (may be empty)"
          value={edited.quantity}
          set={(quantity) => set({ ...edited, quantity })}
        />
      ) : null}
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={edited.entitled}
          onChange={({ target }) => set({ ...edited, entitled: target.checked })}
        />
        entitled
      </label>
    </Filters>
  );
}
