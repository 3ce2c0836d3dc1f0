/** `.import`: rows of a text file into a table. */
import { DotCommandError, type DotShell } from './dot-shell.ts';
import { identifier } from './row-format.ts';

export function importFile(shell: DotShell, args: string[]): void {
  let skip = 0;
  let [column, row] = [shell.style.separator, shell.style.rowSeparator];
  let isCsv = shell.style.mode === 'csv';
  const given: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (/^--?csv$/.test(arg)) [isCsv, column, row] = [true, ',', '\n'];
    else if (/^--?ascii$/.test(arg)) [column, row] = ['\x1f', '\x1e'];
    else if (/^--?skip$/.test(arg)) {
      at += 1;
      skip = Number(args[at]);
    } else if (/^--?v$/.test(arg)) continue;
    else if (/^--?schema$/.test(arg)) at += 1;
    else given.push(arg);
  }
  if (isCsv && shell.style.rowSeparator === '\r\n') shell.style.rowSeparator = '\n';
  const [file, table] = given;
  if (file === undefined || table === undefined) throw new DotCommandError('ERROR: missing FILE or TABLE argument.\n');
  if (file.startsWith('|')) throw new DotCommandError('Error: pipes are not supported in this sandbox');
  const rows = fieldsOf(shell.readText(file), column, isCsv ? '\n' : row).slice(skip);
  const name = identifier(table);
  let columns = shell.database.run('SELECT name FROM pragma_table_info(?1)', [table]).length;
  if (columns === 0) {
    const head = rows.shift();
    if (head === undefined) throw new DotCommandError(`${file}: empty file`);
    shell.database.run(
      `CREATE TABLE "${table.replaceAll('"', '""')}"(\n${head.map((field) => `"${field.replaceAll('"', '""')}" TEXT`).join(', ')})`,
    );
    columns = head.length;
  }
  const { statement } = shell.database.prepare(`INSERT INTO ${name} VALUES(${Array(columns).fill('?').join(',')})`);
  statement?.finalize();
  const isOuter = shell.database.isAutocommit;
  if (isOuter) shell.database.run('BEGIN');
  rows.forEach((fields, at) => {
    const line = at + 1 + skip;
    if (fields.length !== columns) {
      shell.error(
        `${file}:${line}: expected ${columns} columns but found ${fields.length} - ${fields.length < columns ? 'filling the rest with NULL' : 'extras ignored'}`,
      );
    }
    shell.database.run(
      `INSERT INTO ${name} VALUES(${Array(columns).fill('?').join(',')})`,
      Array.from({ length: columns }, (_, index) => fields[index] ?? null),
    );
  });
  if (isOuter) shell.database.run('COMMIT');
}

/** Rows of fields, which may be in quotes. */
function fieldsOf(text: string, column: string, row: string): string[][] {
  const rows: string[][] = [];
  let fields: string[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      at += 1;
      for (; at < text.length; at += 1) {
        if (text[at] !== '"') field += text[at];
        else if (text[at + 1] === '"') {
          field += '"';
          at += 1;
        } else break;
      }
      at += 1;
    } else {
      const ends = [text.indexOf(column, at), text.indexOf(row, at)].filter((end) => end >= 0);
      const end = Math.min(text.length, ...ends);
      field = text.slice(at, end);
      at = end;
    }
    if (row === '\n' && text[at] === '\r') at += 1;
    fields.push(row === '\n' && field.endsWith('\r') && text[at] === '\n' ? field.slice(0, -1) : field);
    if (text.startsWith(column, at)) {
      at += column.length;
      if (at < text.length) continue;
      fields.push('');
    } else at += row.length;
    rows.push(fields);
    fields = [];
  }
  return rows;
}
