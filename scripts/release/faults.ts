/** The reasons why a version may not be tagged, in sentences. */
import { gt, parse } from 'semver';
import { type Changelog, readChangelog } from './changelog.ts';

export interface ReleaseState {
  readonly version: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly today: string;
  /** The output of `git status --porcelain`. */
  readonly uncommitted: string;
  readonly tags: readonly string[];
  readonly changelog: string;
  readonly stated: ReadonlyArray<{ readonly file: string; readonly version: string }>;
}

export function releaseFaults(state: ReleaseState): string[] {
  const { version, stated } = state;
  if (parse(version)?.version !== version) return [`${version} is no version of Semantic Versioning`];
  const faults = stated
    .filter((each) => each.version !== version)
    .map((each) => `${each.file} states ${each.version}`);
  if (state.uncommitted.trim() !== '') faults.push(`not everything is committed:\n${state.uncommitted}`);
  return [...faults, ...tagFaults(state), ...changelogFaults(state, readChangelog(state.changelog))];
}

function tagFaults({ version, tags }: ReleaseState): string[] {
  if (tags.includes(`v${version}`)) return [`there is a tag v${version}`];
  const later = tags
    .filter((tag) => tag.startsWith('v') && parse(tag) !== null && gt(tag, version))
    .map((tag) => `there is a later version: ${tag}`);
  return later.slice(0, 1);
}

function changelogFaults({ version, today }: ReleaseState, { unreleased, sections }: Changelog): string[] {
  const faults: string[] = [];
  const [section, before] = sections;
  if (unreleased !== '')
    faults.push('CHANGELOG.md has changes under [Unreleased] that this version would have');
  if (section?.version !== version) {
    return [...faults, `the first section of CHANGELOG.md with a version is not [${version}]`];
  }
  if (section.text === '') faults.push(`the section [${version}] of CHANGELOG.md says nothing`);
  if (section.date > today) faults.push(`the section [${version}] of CHANGELOG.md is of ${section.date}`);
  if (before !== undefined && before.date > section.date) {
    faults.push(`the section [${version}] of CHANGELOG.md is older than that of ${before.version}`);
  }
  return faults;
}
