/** The button that leads to a form. */
import { Link } from '@tanstack/react-router';

const TITLES = {
  alert: 'Create alert',
  'change-contract': 'Change',
  'change-customer': 'Change',
  'change-product': 'Change',
  charge: 'Add charge',
  commit: 'Add commit',
  contract: 'Create contract',
  credit: 'Add credit',
  customer: 'Create customer',
  'custom-field': 'Create custom field',
  package: 'Create package',
  product: 'Create product',
  'rate-card': 'Create rate card',
  seats: 'Seats',
  'spend-limit': 'Set spend limit',
  'spend-threshold': 'Add spend threshold',
  'change-spend-threshold': 'Spend threshold',
  token: 'Create token',
  webhook: 'Create webhook',
} as const;

export function CreateLink(props: {
  readonly form: keyof typeof TITLES;
  /** Ids that are known already. */
  readonly known?: {
    readonly customer_id?: string;
    readonly contract_id?: string;
    readonly product_id?: string;
    readonly subscription_id?: string;
  };
}) {
  return (
    <Link className="button" to="/create/$form" params={{ form: props.form }} search={props.known ?? {}}>
      {TITLES[props.form]}
    </Link>
  );
}
