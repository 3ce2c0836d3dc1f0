/** `ship`, `inspect`, `import`, `checkout`, `shares`. Files are streamed, whatever their size. */
import { openAsBlob, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Upload } from '../../client/client.ts';
import type { Inspection } from '../../contract/schema.ts';
import { addCommand } from '../command.ts';
import { exitCode } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { actorText, bytesText, facts, printable, timeText } from '../format.ts';
import { leftOutOf, leftOutText } from '../left-out.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { showProgress } from '../progress.ts';
import { type SandboxOption, sandboxFrom, sandboxOption } from '../sandbox-option.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';
import { type TenantOption, tenantFrom, tenantOption } from '../tenant-option.ts';

interface SaveOptions {
  force?: boolean;
  progress?: boolean;
}

const progressOption = (command: Command) =>
  command.option('--progress', 'show progress on stderr even when that is no terminal');
const saveOptions = (command: Command) => progressOption(command).option('--force', 'overwrite an existing file');

/** A local file, or stdin for `-`, as an upload. */
async function uploadOf(file: string): Promise<Upload> {
  if (file === '-') return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  if (!statSync(file).isFile()) throw new CliError('usage', `"${file}" is not a file.`);
  return openAsBlob(file);
}

/** Progress of a download; silent while the bytes go to stdout, unless `--progress` is given. */
const downloadProgress = (label: string, file: string, wanted: boolean | undefined) =>
  showProgress(label, file === '-' && wanted !== true ? false : wanted);

function inspectionText(found: Inspection): string {
  const text = facts([
    ['verified', found.verified ? 'yes' : 'NO'],
    ['signed by', found.issuer ?? 'NOBODY: it is unsigned'],
    ['importable', found.importable ? 'yes' : 'no'],
    ['our share', found.share === undefined ? null : found.share.says],
  ]);
  return `${text}${found.problems.map((problem) => facts([['problem', problem]])).join('')}`;
}

export function addBundleCommands(program: Command): void {
  addCommand<SaveOptions & { includePrivate?: boolean; html?: boolean; reason?: string }>(program, 'ship <id> [file]', {
    summary: 'make a signed bundle of a sandbox, to be shared',
    description:
      'Contains its workspace; memory and tmp only with --include-private. The server records it as a share. Wakes nothing.',
    options: (command) =>
      saveOptions(command)
        .option('--include-private', 'all volumes: whoever has the bundle reads its memory')
        .option('--html', 'as one page with the bundle in it, for a browser')
        .option('--reason <words>', 'why; it goes into the ledger'),
    examples: [
      ['ship sess-841', 'into sess-841.wbundle.zip'],
      ['ship sess-841 - | ssh elsewhere winterdock import - --tenant acme', 'straight to another dock'],
    ],
    async run({ client, print, signal }, options, id: string, named?: string) {
      const format = options.html === true ? 'html' : 'zip';
      const file = named ?? `${id}.wbundle.${format}`;
      refuseOverwrite(file, options.force);
      const progress = downloadProgress(id, file, options.progress);
      const input = { include_private: options.includePrivate, reason: options.reason, format } as const;
      const download = await client.shipInstance(id, input, { signal, onProgress: progress.bytes });
      const saved = await saveDownload(download, file, { force: options.force, progress });
      const share = download.headers.get('x-share');
      const sha256 = download.headers.get('x-sha256');
      if (saved !== null)
        print({ ...saved, share, sha256 }, () => `${saved.file}: ${bytesText(saved.bytes)}, share ${share}\n`);
    },
  });

  addCommand<{ progress?: boolean }>(program, 'inspect <file>', {
    summary: 'show who signed a bundle and what is wrong with it',
    description: 'Exits with 6 when it could not be imported. The server keeps nothing of it.',
    options: progressOption,
    examples: [
      ['inspect sess-841.wbundle.zip', 'before it is imported'],
      ['inspect - < unknown.zip', 'what comes on stdin'],
    ],
    async run({ client, print, signal, exitWith }, options, file: string) {
      const progress = showProgress(file, options.progress);
      try {
        const found = await client.inspectBundle(await uploadOf(file), { signal, onProgress: progress.bytes });
        progress.end();
        print(found, () => inspectionText(found));
        if (!found.importable) exitWith(exitCode('invalid'));
      } finally {
        progress.end();
      }
    },
  });

  addCommand<TenantOption & { progress?: boolean; id?: string; name?: string; requireSigned?: boolean }>(
    program,
    'import <file>',
    {
      summary: 'make a new sandbox from a bundle, or from the bare SQLite file of a sandbox',
      description: 'What nobody signed is taken, and said; a share of the server that lost its signature is refused.',
      options: (command) =>
        tenantOption(progressOption(command))
          .option('--id <id>', 'an id of its own')
          .option('--name <name>', 'a name')
          .option('--require-signed', 'refuse what has no valid signature'),
      examples: [
        ['import sess-841.wbundle.zip --tenant acme', 'with an id that the server makes'],
        ['import vfs.sqlite --tenant acme --id sess-900', 'a bare file'],
      ],
      async run(context, options, file: string) {
        const { client, print, signal } = context;
        const { id, name } = options;
        const tenant = await tenantFrom(options, context);
        const progress = showProgress(file, options.progress);
        try {
          const upload = await uploadOf(file);
          const instance = await client.importBundle(
            upload,
            { tenant, id, name, ...(options.requireSigned === true && { require_signed: 'true' as const }) },
            { signal, onProgress: progress.bytes },
          );
          progress.end();
          print(instance, () => `${instance.id} is created.\n`);
          for (const remark of instance.imported.notes) context.note(printable(remark));
        } finally {
          progress.end();
        }
      },
    },
  );

  addCommand<SaveOptions>(program, 'checkout <id> [file]', {
    summary: 'download a sandbox’s workspace as a directory tree',
    description:
      'A .tar.gz with a .gitignore for the private volumes, without what git takes commands from: .git, and the settings and hooks of other repositories. What was left out is said, and listed in its last file. Wakes nothing.',
    options: saveOptions,
    examples: [
      ['checkout sess-841', 'into sess-841.tar.gz'],
      ['checkout sess-841 - | tar xz -C work', 'straight into a folder'],
    ],
    async run({ client, print, note, signal }, options, id: string, file = `${id}.tar.gz`) {
      refuseOverwrite(file, options.force);
      const progress = downloadProgress(id, file, options.progress);
      const download = await client.checkoutInstance(id, {}, { signal, onProgress: progress.bytes });
      const saved = await saveDownload(download, file, { force: options.force, progress });
      const leftOut = leftOutOf(download.headers.get('x-left-out'));
      if (saved !== null)
        print({ ...saved, left_out: leftOut.count }, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
      if (leftOut.count > 0) note(leftOutText(leftOut, 'The last file of the archive lists all.'));
    },
  });

  addCommand<ListOptions & SandboxOption & { tenant?: string }>(program, 'shares', {
    summary: 'list the bundles that were made, newest first',
    options: (command) => listOptions(sandboxOption(command).option('--tenant <tenant>', 'only of this tenant'), 100),
    examples: [['shares --sandbox sess-841', 'who took what of it, and when']],
    async run(context, options) {
      const { client, signal } = context;
      const { tenant } = options;
      const instance = sandboxFrom(options);
      await printList(context, options, {
        read: (limit) =>
          instance === undefined
            ? client.listShares({ tenant, limit }, { signal })
            : client.listInstanceShares(instance, { limit }, { signal }),
        headings: ['ID', 'SANDBOX', 'TENANT', 'VOLUMES', 'SIZE', 'MADE', 'BY'],
        row: (one) => [
          one.id,
          one.instance,
          one.tenant,
          one.volumes.join(' '),
          bytesText(one.bytes),
          timeText(one.created),
          actorText(one.actor, one.actor_name),
        ],
        none: 'Nothing has left.',
      });
    },
  });
}
