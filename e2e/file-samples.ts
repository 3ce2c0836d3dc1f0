/** What the tested file pages show: hostile Markdown, an image, a database. */
import { DatabaseSync } from 'node:sqlite';

const HOSTILE = `# Fine <b onclick="pwned=2">words</b>

<script>window.pwned = 3</script><img src=x onerror="window.pwned = 4">

[run](javascript:window.pwned=5) [data](data:text/html,<script>pwned=6</script>) [out](https://example.invalid/) [beside](src/index.ts)

![remote](https://example.invalid/pixel.png) ![inside](data/pixel.png)

| left | right |
|:-----|------:|
| 1    | 2     |

- [x] done

\`\`\`js
const shown = 'as code';
\`\`\`
`;

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGUlEQVR4nGNk+M9AEmAiTfmohlENQ0kDALJ4Ah+Xw2/LAAAAAElFTkSuQmCC',
  'base64',
);

/** A database with more rows than a page, and a name and a cell that would be markup. */
function fruit(): Uint8Array {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE TABLE apples (sort TEXT, kilos REAL, photo BLOB);
    WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 60)
    INSERT INTO apples SELECT 'sort ' || x, x * 1.5, zeroblob(x) FROM n;
    CREATE TABLE "<b>""quoted""</b>" (html TEXT); INSERT INTO "<b>""quoted""</b>" VALUES ('<img src=x onerror=pwned=7>');
    CREATE VIEW heavy AS SELECT sort FROM apples WHERE kilos > 89`);
  const content = db.serialize();
  db.close();
  return content;
}

export const LONG = `${'a-name-that-goes-on-and-on-'.repeat(8)}end.txt`;
export const MARKUP = '<img src=x onerror=pwned=1>.txt';
export const ODD = 'a b #1?=%41 é .txt';

/** By path. */
export const SAMPLES: Readonly<Record<string, string | Uint8Array>> = {
  'README.md': HOSTILE,
  'src/index.ts': "import { a } from './a.ts';\n\n// the needle\nexport const b = a('<i>');\n",
  'data/pixel.png': PIXEL,
  'data/table.csv': 'name,size\n"one, two",1\n<b>three</b>,2\n',
  'data/tree.json': '{"digits":12345678901234567890,"list":[1,{"deep":"<b>"}]}',
  'data/model.bin': Uint8Array.from({ length: 10_000 }, (_, index) => (index * 7) % 256),
  'data/fruit.db': fruit(),
  'data/long.log': Array.from({ length: 9000 }, (_, line) => `line ${line + 1} of a long log\n`).join(''),
  [LONG]: 'long',
  [MARKUP]: 'markup',
  [ODD]: 'odd',
};

/** Makes more files than a folder lists at once, and an empty folder. */
export const MAKE_MANY = `mkdir -p many nothing && for i in $(seq 1000 1620); do echo $i > many/$i.txt; done`;
