/** A failure that the user can correct. It is printed without a stack. */
export class DemoFailure extends Error {
  override readonly name = 'DemoFailure';
}
