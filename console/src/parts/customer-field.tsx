/** Selects a customer by name, alias or id: a field with a list of matches, usable by keyboard. */
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi } from '../api/queries.ts';
import styles from './customer-field.module.css';
import { Field } from './page.tsx';

type Customer = Schemas['CustomerDetail'];

const TYPING_MS = 200;
const SHOWN = '8';

interface CustomerFieldProps {
  readonly label?: string;
  /** The id of the customer that is chosen. */
  readonly value: string | undefined;
  /** The text of the field while none is selected. */
  readonly none?: string;
  onChoose(customerId: string | undefined): void;
}

export function CustomerField(props: CustomerFieldProps) {
  const { value } = props;
  const chosen = useApi(
    'GET /v1/customers/{customer_id}',
    { params: { customer_id: value ?? '' } },
    { enabled: value !== undefined },
  );
  const name = value === undefined ? '' : (chosen.data?.data.name ?? value);
  return <Choice key={name} {...props} name={name} />;
}

function Choice({
  label = 'Customer',
  none = 'name, alias or id',
  onChoose,
  name,
}: CustomerFieldProps & { readonly name: string }) {
  const [text, setText] = useState(name);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const { found, isSettled } = useFound(text === name ? '' : text, isOpen);
  const [isAwaited, setAwaited] = useState(false);
  const listId = useId();
  const choose = (customer: Customer | undefined) => {
    setOpen(false);
    setText(customer?.name ?? '');
    onChoose(customer?.id);
  };
  // Enter before the answer to the latest input selects the first match of that answer, not of the previous one.
  useEffect(() => {
    if (!isAwaited || !isSettled) return;
    setAwaited(false);
    if (found[0] !== undefined) choose(found[0]);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((before) => (found.length === 0 ? 0 : (before + step + found.length) % found.length));
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      if (!isSettled) setAwaited(true);
      else if (found[active] !== undefined) choose(found[active]);
    } else if (event.key === 'Escape') setOpen(false);
  };
  return (
    <div className={styles.place}>
      <Field label={label}>
        <input
          type="search"
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={listId}
          aria-autocomplete="list"
          {...(isOpen && found.length > 0 ? { 'aria-activedescendant': `${listId}-${active}` } : {})}
          autoComplete="off"
          size={30}
          placeholder={none}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setActive(0);
            setAwaited(false);
            setOpen(true);
            if (target.value === '') choose(undefined);
          }}
          onFocus={(event) => {
            event.target.select();
            setOpen(true);
          }}
          onBlur={() => {
            setOpen(false);
            setText(name);
          }}
          onKeyDown={onKeyDown}
        />
      </Field>
      <div
        id={listId}
        role="listbox"
        aria-label={label}
        className={styles.list}
        hidden={!isOpen || found.length === 0}
      >
        {found.map((customer, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys.
          <div
            key={customer.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === active}
            className={styles.option}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(customer)}
          >
            {customer.name}{' '}
            <span className="soft mono">{customer.ingest_aliases[0] ?? customer.id.slice(0, 8)}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** Customers that match the input, debounced; until then the previous matches. */
function useFound(
  text: string,
  isOpen: boolean,
): { readonly found: readonly Customer[]; readonly isSettled: boolean } {
  const [search, setSearch] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSearch(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useApi('GET /v1/customers', { query: { limit: SHOWN, search } }, { enabled: isOpen });
  return { found: data?.data ?? [], isSettled: search === text && data !== undefined };
}
