/** Whether an event was sent by Stripe: verifies its signature over the raw bytes, and its age in real time. */
const TOLERANCE_SECONDS = 300;

/** The text of the body; null: the signature is wrong, or more than five minutes old. */
export async function verifiedEvent(body: Buffer, signature: string, secret: string): Promise<string | null> {
  const { default: Stripe } = await import('stripe');
  const text = body.toString('utf8');
  try {
    // Checks only the signature: `constructEvent` refuses events of Stripe's API v2.
    const isSigned = Stripe.webhooks.signature?.verifyHeader(text, signature, secret, TOLERANCE_SECONDS);
    return isSigned === true ? text : null;
  } catch {
    return null;
  }
}
