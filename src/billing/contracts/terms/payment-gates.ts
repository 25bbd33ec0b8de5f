/** Which payment gates and taxes can be had (docs/contracts.md, "Thresholds"). Pure. */
import { invalid } from '../../../core/errors.ts';
import type { PaymentGate } from '../../../core/terms/payment-gate.ts';

/** Refuses (`invalid`) gates and taxes that no provider stands behind, and settings of another kind of gate. */
export function refusePaymentGate(gate: PaymentGate, path: string): void {
  if (gate.type === 'STRIPE') {
    throw invalid(`${path}.payment_gate_type`, 'STRIPE needs a payment provider, and none is connected');
  }
  if (gate.stripe !== null) throw invalid(`${path}.stripe_config`, 'is for payment_gate_type STRIPE only');
  if (gate.taxType === 'STRIPE') {
    throw invalid(`${path}.tax_type`, 'STRIPE is for payment_gate_type STRIPE only');
  }
  if (gate.taxType === 'ANROK') {
    throw invalid(`${path}.tax_type`, 'ANROK needs a tax provider, and none is connected');
  }
  if (gate.taxType === 'PRECALCULATED' && gate.precalculatedTax === null) {
    throw invalid(`${path}.precalculated_tax_config`, 'is required with tax_type PRECALCULATED');
  }
  if (gate.taxType !== 'PRECALCULATED' && gate.precalculatedTax !== null) {
    throw invalid(`${path}.precalculated_tax_config`, 'is for tax_type PRECALCULATED only');
  }
}
