/** A failure that the reader of the terminal can do something about. It is printed without a stack. */
export class DemoFailure extends Error {
  override readonly name = 'DemoFailure';
}
