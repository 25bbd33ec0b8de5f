/**
 * Checks the rules of .dependency-cruiser.mjs. The tool's own command refuses Node 20, its interface
 * works there: it finds the same imports as on later versions.
 */
import { cruise } from 'dependency-cruiser';
import ruleSet from '../.dependency-cruiser.mjs';

const { output, exitCode } = await cruise(['src', 'test', 'bench', 'scripts', 'console'], {
  ...ruleSet.options,
  ruleSet,
  validate: true,
  outputType: 'err-long',
});
process.stdout.write(String(output));
process.exitCode = exitCode === 0 ? 0 : 1;
