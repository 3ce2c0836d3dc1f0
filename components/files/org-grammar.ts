/** The grammar of org text for highlight.js, which has none: what a workbook uses, with the code of its blocks. */
import type { LanguageFn } from 'highlight.js';

/** Languages of source blocks, by their names in a block, as highlight.js calls them. */
const LANGUAGES: readonly [names: string, grammar: string][] = [
  ['js|javascript', 'javascript'],
  ['ts|typescript', 'typescript'],
  ['py|python', 'python'],
  ['sh|bash', 'bash'],
];

export const org: LanguageFn = () => {
  const argument = { scope: 'attr', match: /[ \t]:[A-Za-z_-]+/ };
  const block = (names: string, grammar: string | null) => ({
    scope: 'meta',
    begin: new RegExp(`^[ \\t]*#\\+begin_src[ \\t]+(?:${names})(?=\\s|$)`),
    end: /$/,
    contains: [argument],
    starts: {
      end: /^[ \t]*#\+end_src/,
      returnEnd: true,
      ...(grammar === null ? {} : { subLanguage: grammar }),
    },
  });
  return {
    name: 'Org',
    case_insensitive: true,
    contains: [
      ...LANGUAGES.map(([names, grammar]) => block(names, grammar)),
      block('\\S+', null),
      {
        scope: 'section',
        begin: /^\*+[ \t]/,
        end: /$/,
        contains: [
          { scope: 'keyword', match: /\b(?:TODO|DONE)\b/ },
          { scope: 'symbol', match: /[ \t]:[\w@#%:]+:[ \t]*$/ },
        ],
      },
      { scope: 'meta', match: /^[ \t]*#\+[^\n]*/ },
      { scope: 'comment', match: /^[ \t]*#(?:[ \t][^\n]*)?$/ },
      { scope: 'attr', match: /^[ \t]*:[\w-]+:/ },
      { scope: 'keyword', match: /\b(?:SCHEDULED|DEADLINE|CLOSED):/ },
      { scope: 'number', match: /[<[]\d{4}-\d\d-\d\d[^>\]\n]*[>\]]/ },
      { scope: 'link', match: /\[\[[^\]\n]*\](?:\[[^\]\n]*\])?\]/ },
      { scope: 'code', match: /(?<=^|[\s('"])[=~][^\s=~][^\n]*?[=~](?=[\s)'".,;:!?]|$)/ },
    ],
  };
};
