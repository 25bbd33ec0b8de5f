/** Whether an event comes from Stripe: its signature over the very bytes, and not too long ago in real time. */
const TOLERANCE_SECONDS = 300;

/** The text of the body; null: the signature is wrong, or more than five minutes old. */
export async function verifiedEvent(body: Buffer, signature: string, secret: string): Promise<string | null> {
  const { default: Stripe } = await import('stripe');
  const text = body.toString('utf8');
  try {
    // Only the signature: `constructEvent` refuses events of the second version of Stripe's API.
    const isSigned = Stripe.webhooks.signature?.verifyHeader(text, signature, secret, TOLERANCE_SECONDS);
    return isSigned === true ? text : null;
  } catch {
    return null;
  }
}
