/** Whether an event comes from Stripe: its signature over the very bytes, and not too long ago in real time. */
const TOLERANCE_SECONDS = 300;

/** The text of the body; null: the signature is wrong, or more than five minutes old. */
export async function verifiedEvent(body: Buffer, signature: string, secret: string): Promise<string | null> {
  const { default: Stripe } = await import('stripe');
  const text = body.toString('utf8');
  try {
    Stripe.webhooks.constructEvent(text, signature, secret, TOLERANCE_SECONDS);
    return text;
  } catch {
    return null;
  }
}
