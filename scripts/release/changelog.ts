/** CHANGELOG.md as sections by version, in the form of Keep a Changelog. */

const UNRELEASED = '## [Unreleased]';

interface ChangelogSection {
  readonly version: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly text: string;
}

export interface Changelog {
  /** The entries under `[Unreleased]`, without its headings. */
  readonly unreleased: string;
  /** As they stand: the newest first. */
  readonly sections: readonly ChangelogSection[];
}

export function readChangelog(text: string): Changelog {
  const parts = text.split(/^(?=## )/m);
  const unreleased = parts.find((part) => part.startsWith(UNRELEASED)) ?? '';
  const sections = parts.flatMap((part) => {
    const [heading, version = '', date = ''] =
      /^## \[(\d+\.\d+\.\d+[^\]]*)\] - (\d{4}-\d\d-\d\d)\n/.exec(part) ?? [];
    return heading === undefined ? [] : [{ version, date, text: part.slice(heading.length).trim() }];
  });
  return { unreleased: unreleased.replaceAll(/^##.*$/gm, '').trim(), sections };
}

/** The same with what was unreleased as the section of `version`. */
export function withRelease(text: string, version: string, date: string): string {
  if (!text.includes(UNRELEASED)) throw new Error(`CHANGELOG.md has no ${UNRELEASED}`);
  return text.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${date}`);
}
