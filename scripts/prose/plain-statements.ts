/** Rules of textlint for the beginnings of sentences. */
import type { TextlintRuleModule } from '@textlint/types';

/** Reports each match of `pattern` in a paragraph. */
const refused =
  (pattern: RegExp, message: string): TextlintRuleModule =>
  ({ Syntax, RuleError, getSource, report, locator }) => ({
    [Syntax.Paragraph](node) {
      for (const { index } of getSource(node).matchAll(pattern)) {
        report(node, new RuleError(message, { padding: locator.at(index) }));
      }
    },
  });

/** No sentence of a comment begins with "Of", or with "What" unless it is a question. */
export const plainStatements = refused(
  /(?:^|(?<=[.!:]\s))(?:Of\s|What\b(?![^.?!]*\?))/g,
  'A sentence that begins with “Of” or “What”: begin with its subject, a noun',
);

/** The subject is a noun and stands first. */
export const subjectFirst = refused(
  /(?:^|(?<=[.!:]\s))Of (?:the|those|these|them|all|an?|its|each|every|which|two|what)\b/g,
  'A sentence that begins with “Of”: begin with its subject, a noun',
);
