/**
 * What `npm run demo` fills a server with: three tenants whose sandboxes are in every state, with work in them that a
 * person recognises. The work is done by the sandboxes themselves.
 */
import type { CreateInput } from '../../lib/client/client.ts';
import type { State } from '../../lib/lifecycle/state-map.ts';

export interface ScenePart extends Pick<CreateInput, 'labels' | 'keep_hot' | 'ephemeral' | 'idle_to_suspend_s'> {
  id: string;
  tenant: string;
  name: string;
  /** Shell scripts that it runs, in this order. */
  runs: readonly string[];
  /** Where it is at last. */
  to: State;
  /** Why somebody filed it there, for the ledger. */
  reason?: string;
}

/** A shell script that writes a file of these lines. */
const write = (path: string, ...lines: string[]) =>
  `mkdir -p $(dirname ${path})\ncat > ${path} <<'END'\n${lines.join('\n')}\nEND`;

const SALES = write(
  'data/sales.csv',
  'month,region,orders,revenue',
  'January,north,412,18240',
  'January,south,388,17110',
  'February,north,455,20930',
  'February,south,401,17850',
  'March,north,520,24310',
  'March,south,433,19940',
);

const REPORT = `python3 <<'END'
import csv
from collections import defaultdict
total = defaultdict(int)
with open('/workspace/data/sales.csv') as rows:
    for row in csv.DictReader(rows):
        total[row['month']] += int(row['revenue'])
with open('/workspace/report.md', 'w') as out:
    out.write('# First quarter\\n\\n| Month | Revenue |\\n| --- | ---: |\\n')
    for month, revenue in total.items():
        out.write(f'| {month} | {revenue} |\\n')
END
cat report.md`;

const TRIAGE = write(
  'triage.js',
  'const tickets = JSON.parse(stdin);',
  'const urgent = tickets.filter(({ text }) => /down|lost|cannot/i.test(text));',
  "console.log(urgent.length + ' of ' + tickets.length + ' are urgent');",
);

const TICKETS = write(
  'tickets.json',
  '[',
  '  { "id": 4101, "text": "I cannot sign in since this morning" },',
  '  { "id": 4102, "text": "How do I export my invoices?" },',
  '  { "id": 4103, "text": "The status page says that the API is down" }',
  ']',
);

/** In the order in which they are made. What is deleted comes first, as it would have. */
export const SCENE: readonly ScenePart[] = [
  {
    id: 'old-experiment',
    tenant: 'acme',
    name: 'Old experiment',
    runs: [write('notes.md', 'It did not work out.')],
    to: 'deleted',
    reason: 'nobody asked for it in a year',
  },
  {
    id: 'support-triage',
    tenant: 'acme',
    name: 'Support triage',
    labels: { env: 'prod', team: 'support' },
    runs: [
      TICKETS,
      TRIAGE,
      'js triage.js < tickets.json | tee summary.txt',
      write('/memory/learned.md', 'People read the first line only.', 'Answer the urgent ones before nine.'),
      'echo "draft of a reply to 4101" > /tmp/draft.txt',
    ],
    to: 'active',
  },
  {
    id: 'release-notes',
    tenant: 'acme',
    name: 'Release notes writer',
    labels: { env: 'prod', team: 'docs' },
    runs: [
      write(
        'changes.txt',
        'feat: wake in milliseconds',
        'fix: keep what a full disk refused',
        'feat: a ladder for each tenant',
      ),
      "{ echo '# What is new'; grep '^feat' changes.txt | sed 's/^feat: /- /'; echo; echo '# What is mended'; grep '^fix' changes.txt | sed 's/^fix: /- /'; } | tee release-notes.md",
    ],
    to: 'suspended',
  },
  {
    id: 'onboarding',
    tenant: 'acme',
    name: 'Onboarding assistant',
    labels: { env: 'test' },
    runs: [write('steps.md', '1. Say hello', '2. Show the board', '3. Let them move one card')],
    to: 'frozen',
  },
  {
    id: 'quarterly-report',
    tenant: 'northwind',
    name: 'Quarterly report',
    labels: { team: 'finance' },
    runs: [SALES, REPORT],
    to: 'suspended',
  },
  {
    id: 'price-watch',
    tenant: 'northwind',
    name: 'Price watch',
    labels: { env: 'prod', region: 'eu' },
    keep_hot: true,
    runs: [write('watched.txt', 'coffee', 'cocoa', 'wheat'), 'wc -l watched.txt > count.txt'],
    to: 'active',
  },
  {
    id: 'march-crawl',
    tenant: 'northwind',
    name: 'Crawl of March',
    labels: { batch: '2026-03' },
    runs: ['mkdir -p pages; for n in $(seq 1 40); do echo "page $n" > pages/$n.html; done; ls pages | wc -l'],
    to: 'archived',
    reason: 'the month is closed',
  },
  {
    id: 'pull-request-417',
    tenant: 'lighthouse',
    name: 'Review of pull request 417',
    labels: { kind: 'review' },
    ephemeral: true,
    idle_to_suspend_s: 3600,
    runs: [write('review.md', 'Looks right. One test is missing: what if the list is empty?')],
    to: 'active',
  },
  { id: 'fresh-idea', tenant: 'lighthouse', name: 'Fresh idea', runs: [], to: 'created' },
];

/** What is kept of them, and made from what was kept. */
export const SNAPSHOT = {
  of: 'quarterly-report',
  tag: 'before the corrections',
  restoredAs: 'Quarterly report, corrected',
};
export const BLUEPRINT = {
  of: 'onboarding',
  name: 'onboarding-kit',
  clones: 5,
  tenant: 'lighthouse',
  as: 'Onboarding',
};
