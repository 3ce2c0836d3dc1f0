/** Reports failures on stderr, as sentences or as one JSON document, and gives their exit code. */
import { ERROR_STATUS } from '../base/error-status.ts';
import { isWinterdockError } from '../base/errors.ts';
import { ApiError } from '../client/client.ts';
import { type ExitCodeName, exitCode, exitCodeOfError } from './exit-codes.ts';
import { printable } from './format.ts';

/** A failure that the command line itself finds, without the server. */
export class CliError extends Error {
  readonly exit: ExitCodeName;
  readonly hint: string | null;

  constructor(exit: ExitCodeName, message: string, hint: string | null = null) {
    super(message);
    this.name = 'CliError';
    this.exit = exit;
    this.hint = hint;
  }
}

/** The abort reason when Ctrl-C or SIGTERM stopped the program. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('Stopped.');
    this.name = 'Interrupted';
    this.exitCode = exitCode;
  }
}

interface FailureReport {
  exit: number;
  code: string;
  detail: string;
  status?: number;
  hint: string | null;
  request_id?: string | null;
  errors?: readonly { path: string; message: string }[];
}

/** What to do without a key that a server takes. */
export function keyHint(address: string | null): string {
  const server = address ?? '[address]';
  return `Set WINTERDOCK_KEY, or log in: winterdock login ${server} --key-file FILE. A server's first start writes data/admin.key.`;
}

function reportOf(error: unknown, address: string | null): FailureReport {
  if (error instanceof ApiError) {
    const { code, status, message, request_id, problem } = error;
    // The server's hint is about headers; here keys come from `login`.
    const hint = code === 'unauthorized' ? keyHint(address) : error.hint;
    return {
      exit: exitCodeOfError(code, status),
      code,
      status,
      detail: message,
      hint,
      request_id,
      errors: problem?.errors,
    };
  }
  if (isWinterdockError(error)) {
    const { code, message: detail, hint = null } = error;
    return { exit: exitCodeOfError(code, ERROR_STATUS[code]), code, detail, hint };
  }
  if (error instanceof CliError) {
    return { exit: exitCode(error.exit), code: error.exit, detail: error.message, hint: error.hint };
  }
  if (error instanceof Interrupted)
    return { exit: error.exitCode, code: 'interrupted', detail: 'Stopped.', hint: null };
  if (error instanceof Error && 'syscall' in error) {
    return { exit: exitCode('usage'), code: 'usage', detail: error.message, hint: null };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exit: exitCode('internal'), code: 'internal', detail, hint: 'This is a bug in the command line.' };
}

/** The failure as lines for a person. */
function sentences({ code, detail, hint, request_id, errors }: FailureReport): string {
  const lines = [`winterdock: ${printable(detail, true)} [${printable(code)}]`];
  // A single validation error is in the sentence already.
  const more = errors?.length === 1 && detail.includes(errors[0]?.message ?? '\n') ? [] : (errors ?? []);
  for (const { path, message } of more) lines.push(`  ${printable(path)}: ${printable(message)}`);
  if (hint !== null) lines.push(`  ${printable(hint)}`);
  if (code === 'internal' && request_id) lines.push(`  Request ${printable(request_id)}.`);
  return `${lines.join('\n')}\n`;
}

/** Writes a failure to stderr; `address` is that of the server that was asked. Returns the exit code. */
export function reportFailure(error: unknown, json: boolean, address: string | null = null): number {
  const report = reportOf(error, address);
  const { exit, ...document } = report;
  if (json) process.stderr.write(`${JSON.stringify({ error: { ...document, exit } })}\n`);
  else if (!(error instanceof Interrupted)) process.stderr.write(sentences(report));
  return exit;
}
