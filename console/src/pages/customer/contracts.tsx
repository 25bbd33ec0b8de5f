/** Contracts as timelines of their terms. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { moneyText, priceText, quantityText } from '../../format/money.ts';
import { dayText, lastDayText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { CopyId, Day } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';
import styles from './contracts.module.css';
import { type Term, termsOf } from './terms.ts';

type Contract = Schemas['ContractV2'];

export function Contracts({ customerId }: { readonly customerId: string }) {
  const query = useApi('POST /v2/contracts/list', {
    body: { customer_id: customerId, include_archived: true },
  });
  return (
    <Loaded query={query} what="contracts">
      {({ data }) =>
        data.length === 0 ? (
          <Empty action={<CreateLink form="contract" known={{ customer_id: customerId }} />}>
            This customer has no contract, so nothing of its usage is billed.
          </Empty>
        ) : (
          data.map((contract) => <ContractTerms key={contract.id} contract={contract} />)
        )
      }
    </Loaded>
  );
}

function ContractTerms({ contract }: { readonly contract: Contract }) {
  const { now } = useSession();
  const { id, name, starting_at, ending_before, archived_at, rate_card_id } = contract;
  const texts = { money: moneyText, price: priceText, quantity: quantityText };
  const terms = termsOf(contract, texts);
  const scale = scaleOf(contract, terms, now);
  const columns: Column<Term>[] = [
    { title: 'Term', cell: ({ kind }) => kind },
    { title: 'What', cell: ({ text }) => text },
    { title: 'From', cell: ({ from }) => <Day at={from} /> },
    {
      title: 'Until',
      cell: ({ from, until }) =>
        until === from ? null : (
          <span className="nowrap">{until === undefined ? 'open' : lastDayText(until)}</span>
        ),
    },
    {
      title: `${dayText(scale.start)} – ${lastDayText(scale.end)}`,
      cell: (term) => <Bar term={term} scale={scale} />,
    },
  ];
  return (
    <Section
      title={name ?? 'Contract'}
      aside={
        <>
          <span className="soft">
            {dayText(starting_at)} – {ending_before === undefined ? 'open' : lastDayText(ending_before)}
            {archived_at === undefined ? '' : ', archived'}, billed{' '}
            {contract.usage_statement_schedule.frequency.toLowerCase()} <CopyId id={id} />
          </span>
          {archived_at === undefined ? <Actions contract={contract} /> : null}
        </>
      }
    >
      {rate_card_id === undefined ? (
        <p className="soft">Without a rate card: usage is not billed.</p>
      ) : (
        <p className="soft small">
          <Link to="/prices" search={{ view: 'contract', customer: contract.customer_id, contract: id }}>
            Prices of this contract
          </Link>
          , of the{' '}
          <Link to="/prices" search={{ card: rate_card_id }}>
            rate card
          </Link>{' '}
          <CopyId id={rate_card_id} />
          {contract.net_payment_terms_days === undefined
            ? null
            : `, to be paid within ${countText(Number(contract.net_payment_terms_days), 'day')}`}
        </p>
      )}
      <Table
        label={`Terms of ${name ?? 'the contract'}`}
        columns={columns}
        rows={terms}
        keyOf={(_term, index) => String(index)}
      />
      {archived_at === undefined ? <MoreTerms contract={contract} /> : null}
      <p className="small">
        <Link to="." search={{ view: 'invoices' } as never}>
          Invoices
        </Link>
      </p>
    </Section>
  );
}

function Actions({ contract: { id, customer_id, name } }: { readonly contract: Contract }) {
  const archive = useChange('POST /v1/contracts/archive');
  return (
    <span className="nowrap">
      <CreateLink form="change-contract" known={{ customer_id, contract_id: id }} />{' '}
      <Confirm
        action="Archive"
        kind="danger"
        title={`Archive ${name ?? 'the contract'}?`}
        run={() => archive.mutateAsync({ body: { customer_id, contract_id: id, void_invoices: false } })}
      >
        <p>
          Its commits, credits and charges are archived with it, and its drafts disappear. Finalized invoices
          stay. It cannot be undone.
        </p>
      </Confirm>
    </span>
  );
}

/** Terms that are no rows of the table, and the forms that change them. */
function MoreTerms({ contract }: { readonly contract: Contract }) {
  const { id, customer_id, spend_limit: limit, spend_threshold_configuration: threshold } = contract;
  const known = { customer_id, contract_id: id };
  return (
    <>
      {limit == null ? null : (
        <p className="soft small">
          Usage beyond balances may charge{' '}
          {limit.credit_type === undefined
            ? quantityText(limit.amount)
            : moneyText(limit.amount, limit.credit_type)}{' '}
          in a billing period.
        </p>
      )}
      <div className={styles.more}>
        <CreateLink form="spend-limit" known={known} />
        <CreateLink form={threshold == null ? 'spend-threshold' : 'change-spend-threshold'} known={known} />
        {contract.subscriptions?.map(({ id: subscription_id, name, subscription_rate }) =>
          subscription_id === undefined ? null : (
            <span key={subscription_id}>
              <CreateLink form="seats" known={{ ...known, subscription_id }} />{' '}
              <span className="soft small">{name ?? subscription_rate.product.name}</span>
            </span>
          ),
        )}
      </div>
    </>
  );
}

interface Scale {
  readonly start: string;
  readonly end: string;
  readonly now: string;
}

const MARGIN_MS = 90 * 86_400_000;

/** The range of the timeline: an open contract is shown until some months from now. */
function scaleOf({ starting_at, ending_before }: Contract, terms: readonly Term[], now: string): Scale {
  const ahead = new Date(Date.parse(now) + MARGIN_MS).toISOString();
  const ends = terms.flatMap(({ until }) => until ?? []).filter((each) => each < '2100');
  const end = ending_before ?? [ahead, ...ends].sort().at(-1) ?? ahead;
  return { start: starting_at, end, now };
}

function Bar({ term, scale }: { readonly term: Term; readonly scale: Scale }) {
  const [start, length] = [Date.parse(scale.start), Date.parse(scale.end) - Date.parse(scale.start)];
  const share = (at: string) => Math.min(100, Math.max(0, ((Date.parse(at) - start) / length) * 100));
  const [from, until] = [share(term.from), share(term.until ?? scale.end)];
  return (
    <div className={styles.bar} aria-hidden="true">
      <i className={styles.term} style={{ left: `${from}%`, width: `${Math.max(1, until - from)}%` }} />
      <i className={styles.now} style={{ left: `${share(scale.now)}%` }} />
    </div>
  );
}
