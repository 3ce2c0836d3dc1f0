/**
 * `workbook.html`: describes a bundle to a person who opens it in a browser, from disk, without network. Everything
 * from a sandbox is escaped; the page has no script, and its Content-Security-Policy allows none. It is generated in
 * pieces, so that its size needs no memory; knows nothing of zips.
 */

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { sqlFor } from '../native/file/presented-rows.ts';
import { contentBytes } from '../vfs/table-reader.ts';
import { VOLUME_CONTRACTS, VOLUMES, type Volume } from '../vfs/volumes.ts';
import { escaped } from './html.ts';
import { DISK, type Manifest, PAGE, SOURCE } from './manifest.ts';

/** Entries listed for each volume; the page says how many more there are. */
const LISTED = 2000;
/** Largest text file that is shown, and the limit for all of a volume, in bytes. */
const SHOWN_FILE_BYTES = 64 * 1024;
const SHOWN_BYTES = 2 * 1024 * 1024;

/** What every page ends with. */
export const PAGE_END = '</main>\n</body>\n</html>\n';

const ASKED_FOR = 'Private: it is in this bundle because the person who shipped it asked for that.';

const STYLE = `
:root{color-scheme:light dark;--paper:#fbfaf6;--sheet:#fffefc;--wash:#f3f1e8;--ink:#121316;--ink2:#4a4c48;--rule:#dcd9cd;--workspace:#a8d4f0;--memory:#aee5c2;--tmp:#f3c5a3;--on:#121316;--fault:#b3252b;--faultwash:#fdeeea}
@media (prefers-color-scheme:dark){:root{--paper:#101318;--sheet:#161a20;--wash:#1a1f26;--ink:#ebe8de;--ink2:#bcbab0;--rule:#2a3038;--workspace:#8cc0e2;--memory:#8fcfa8;--tmp:#dba982;--fault:#ff9a9c;--faultwash:#2a1719}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:60rem;margin:0 auto;padding:3rem clamp(1.25rem,4vw,3rem) 5rem}
h1{font-size:2rem;line-height:1.15;margin:.25rem 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.5rem 0 .75rem;padding-top:1rem;border-top:1px solid var(--rule)}
p{max-width:42rem}
.kind,.quiet,th{color:var(--ink2)}
.warning{border:1px solid var(--fault);background:var(--faultwash);color:var(--fault);padding:.75rem 1rem;font-weight:600;max-width:none}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.5rem;margin:0}
dt{color:var(--ink2)}dd{margin:0;overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,monospace;font-size:.875em}
pre{background:var(--wash);border:1px solid var(--rule);padding:.75rem 1rem;margin:.25rem 0 .75rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--rule);font-weight:400}
td.n,th.n{text-align:right;white-space:nowrap}
td.path{overflow-wrap:anywhere;width:99%}
summary{cursor:pointer;text-decoration:underline;text-decoration-color:var(--rule);text-underline-offset:.2em}
.volume{display:inline-block;padding:0 .5em;color:var(--on);border:1px solid var(--on)}
.workspace{background:var(--workspace)}.memory{background:var(--memory)}.tmp{background:var(--tmp)}
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Input of the page. The hash of the page itself and the signature are in the manifest only. */
export interface PageInput {
  manifest: Manifest;
  disk: { sha256: string; bytes: number };
  /** The source of its workbook as HTML, in pieces; absent without one. */
  workbook?: Iterable<string>;
}

/** The page in pieces. `db` is an open VFS file of the bundle, with or without the second table. */
export function* bundlePage(db: DatabaseSync, { manifest, disk, workbook }: PageInput): Generator<string> {
  const title = manifest.name ?? manifest.instance ?? manifest.id;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(POLICY)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – ${escaped(manifest.format)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="kind">A bundle of one sandbox</p>
<h1><bdi>${escaped(title)}</bdi></h1>
`;
  yield manifest.private_included
    ? '<p class="warning">Private volumes are included: this bundle carries memory and tmp, not the work alone. Anyone who has it can read them.</p>\n'
    : '<p>It carries the work, and nothing else of the sandbox: memory and tmp stayed where they were.</p>\n';
  yield `<p>The work is in <code>${DISK}</code>, one SQLite file. This page shows what is in it; <code>manifest.json</code> says what must be true of both, and is
${manifest.signed ? 'signed' : 'not signed'}. To make a sandbox of it again, import the whole bundle.</p>\n`;
  yield factsOf(manifest, disk);
  if (workbook !== undefined) {
    yield `<h2>Workbook</h2>\n<p class="quiet">As in <code>${SOURCE}</code>, byte for byte. Importing the bundle docks it again.</p>\n`;
    yield* workbook;
  }
  for (const volume of manifest.volumes) yield* volumeOf(db, volume);
  yield `<h2>Manifest</h2>
<p class="quiet">As in <code>manifest.json</code>, which adds the hash of this page${manifest.signed ? ' and the signature' : ''}.</p>
<pre>${escaped(JSON.stringify({ ...manifest, members: { [PAGE]: '…', [DISK]: disk } }, null, 2))}</pre>
${PAGE_END}`;
}

function factsOf(manifest: Manifest, disk: PageInput['disk']): string {
  const { lineage } = manifest;
  const from = Object.entries(lineage ?? {}).flatMap(([kind, id]) => (id === null ? [] : [`${kind} ${id}`]));
  const facts: [name: string, html: string][] = [
    ['Bundle', `<code>${escaped(manifest.id)}</code>`],
    ['Format', `<code>${escaped(manifest.format)}</code>`],
    ['Sandbox', `<code>${escaped(manifest.instance ?? 'not said')}</code>`],
    ['Tenant', `<code>${escaped(manifest.tenant ?? 'not said')}</code>`],
    ['Shipped', dateOf(manifest.created)],
    ['Volumes', VOLUMES.map((volume) => stateOf(manifest, volume)).join('<br>')],
    ['Workbook', workbookOf(manifest)],
    ['Variables', variablesOf(manifest)],
    ['Made from', from.length === 0 ? 'nothing else' : escaped(from.join(', '))],
    ['Signed by', manifest.signed ? `<code>${escaped(manifest.issuer ?? 'not said')}</code>` : 'nobody'],
    [`SHA-256 of ${DISK}`, `<code>${escaped(disk.sha256)}</code>, ${grouped(disk.bytes)} bytes`],
  ];
  return `<dl>\n${facts.map(([name, html]) => `<dt>${escaped(name)}</dt><dd>${html}</dd>`).join('\n')}\n</dl>\n`;
}

function workbookOf({ workbook }: Manifest): string {
  return workbook === undefined ? 'none' : `<bdi>${escaped(workbook.id)}</bdi>, version ${workbook.version}`;
}

/** Names alone are in a bundle. */
function variablesOf({ env = [] }: Manifest): string {
  if (env.length === 0) return 'none';
  return `${env.map((name) => `<code>${escaped(name)}</code>`).join(', ')}: names alone, their values stayed`;
}

function stateOf(manifest: Manifest, volume: Volume): string {
  const is = manifest.volumes.includes(volume) ? 'in this bundle' : 'not in this bundle';
  return `<span class="volume ${volume}">${volume}</span> ${is}`;
}

interface Row {
  path: string;
  bytes: number;
  mtime: unknown;
  target: string | null;
}

function* volumeOf(db: DatabaseSync, volume: Volume): Generator<string> {
  const nodes = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vfs_node'").get() !== undefined;
  const files =
    'SELECT path, ifnull(octet_length(content), 0) AS bytes, mtime, NULL AS target FROM vfs WHERE volume = ?1';
  const links = "SELECT path, 0, mtime, target FROM vfs_node WHERE volume = ?1 AND kind = 'link'";
  const count = 'SELECT count(*) AS files, total(octet_length(content)) AS bytes FROM vfs WHERE volume = ?';
  const sum = db.prepare(sqlFor(db, count)).get(volume);
  yield `<h2><span class="volume ${volume}">${volume}</span> ${counted(sum?.files, 'file')}, ${counted(sum?.bytes, 'byte')}</h2>
<p class="quiet">${escaped(VOLUME_CONTRACTS[volume].ships ? VOLUME_CONTRACTS[volume].says : ASKED_FOR)}</p>
`;
  const listing = `${files}${nodes ? ` UNION ALL ${links}` : ''} ORDER BY path LIMIT ${LISTED + 1}`;
  const rows = db.prepare(sqlFor(db, listing));
  let listed = 0;
  let room = SHOWN_BYTES;
  for (const row of rows.iterate(volume) as Iterable<Row>) {
    if (listed === 0) yield '<table>\n<tr><th>Path</th><th class="n">Bytes</th><th class="n">Changed</th></tr>\n';
    listed += 1;
    if (listed > LISTED) break;
    const text =
      row.target === null && row.bytes <= Math.min(SHOWN_FILE_BYTES, room) ? textOf(db, volume, row.path) : null;
    room -= text === null ? 0 : row.bytes;
    yield rowOf(row, text);
  }
  if (listed > 0) yield '</table>\n';
  if (listed > LISTED)
    yield `<p class="quiet">The first ${grouped(LISTED)} are listed; all are in <code>${DISK}</code>.</p>\n`;
}

function rowOf({ path, bytes, mtime, target }: Row, text: string | null): string {
  const name = `<bdi>${escaped(path)}</bdi>`;
  const shown =
    text === null || text === ''
      ? name
      : `<details><summary>${name}</summary><pre dir="auto">${escaped(text)}</pre></details>`;
  const what = target === null ? shown : `${name} → <bdi>${escaped(target)}</bdi>`;
  return `<tr><td class="path">${what}</td><td class="n">${target === null ? grouped(bytes) : 'link'}</td><td class="n">${dateOf(mtime)}</td></tr>\n`;
}

/** The content of a small file when it is text; null when it is not. */
function textOf(db: DatabaseSync, volume: Volume, path: string): string | null {
  const row = db.prepare('SELECT content FROM vfs WHERE volume = ? AND path = ?').get(volume, path);
  const bytes = contentBytes(row?.content ?? null);
  return isUtf8(bytes) && !bytes.includes(0) ? Buffer.from(bytes).toString('utf8') : null;
}

/** UTC to the minute; nothing for what is no time. */
function dateOf(seconds: unknown): string {
  const date = new Date(Number(seconds) * 1000);
  return seconds === null || Number.isNaN(date.getTime())
    ? ''
    : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function counted(number: unknown, thing: string): string {
  return `${grouped(Number(number))} ${thing}${Number(number) === 1 ? '' : 's'}`;
}

function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
