import { CommandFailure } from '../app/failures/command-failure.ts';

/** A failure that the user can correct. It is printed without a stack. */
export class DemoFailure extends CommandFailure {
  override readonly name = 'DemoFailure';
}
