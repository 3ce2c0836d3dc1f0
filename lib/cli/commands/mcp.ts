/**
 * `mcp`: the server's MCP endpoint over stdio, for hosts that start a program. Carries messages between the two and
 * knows no tool: each line on stdin is a request to the server, and each answer of the server is a line on stdout.
 */
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { type McpMessage, serverSent } from '../../client/client.ts';
import { addCommand } from '../command.ts';
import { CliError, keyHint } from '../failure.ts';
import type { LoginServer } from '../saved-logins.ts';

/** JSON-RPC's codes: what is no message, and a failure between here and the server. */
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;
/** Where a message of the revision 2026-07-28 and later says which one it is of. */
const REVISION = 'io.modelcontextprotocol/protocolVersion';

type MessageId = string | number | null;

interface Failure {
  detail: string;
  code?: string;
  hint?: string | null;
}

/** A failure as the answer to a request. */
function errorAnswer(id: MessageId, code: number, { detail, hint, ...rest }: Failure): object {
  const message = hint === undefined || hint === null ? detail : `${detail} ${hint}`;
  return { jsonrpc: '2.0', id, error: { code, message, data: { detail, hint, ...rest } } };
}

/** Carries messages to one server, each in a request of its own. */
class MessageCarrier {
  readonly #server: LoginServer;
  readonly #write: (message: object) => void;
  /** Requests that have no answer yet. */
  readonly #open = new Map<string | number, AbortController>();
  /** The revision that `initialize` agreed on; null before it, and with clients that name it in each message. */
  #revision: string | null = null;

  constructor(server: LoginServer, write: (message: object) => void) {
    this.#server = server;
    this.#write = write;
  }

  /** Takes a line of stdin. Never rejects. */
  async take(line: string): Promise<void> {
    const message = documentOf(line) as McpMessage | null;
    if (message === null) {
      this.#write(errorAnswer(null, PARSE_ERROR, { detail: 'The line is not one object of JSON.' }));
      return;
    }
    const { id, method, params } = message;
    // Closing its connection is what cancels a call on the server.
    if (method === 'notifications/cancelled') this.#open.get(params?.requestId as string)?.abort();
    else if (method !== undefined) await this.#carry(message, id ?? null);
  }

  /** Ends what has no answer yet, on the server too. */
  close(): void {
    for (const request of this.#open.values()) request.abort();
  }

  async #carry(message: McpMessage, id: MessageId): Promise<void> {
    const leaving = new AbortController();
    if (id !== null) this.#open.set(id, leaving);
    let isAnswered = false;
    try {
      for await (const answer of this.#answers(message, leaving.signal)) {
        if (answer.method === undefined) isAnswered = true;
        this.#learn(message, answer);
        this.#write(answer);
      }
      if (id !== null && !isAnswered) throw new Error('The server ended its answer before it was complete.');
    } catch (error) {
      if (id === null || isAnswered || leaving.signal.aborted) return;
      const { cause } = error as Error;
      const reason = cause instanceof Error ? cause.message : (error as Error).message;
      const detail = `No answer from ${this.#server.url}: ${reason}`;
      const hint = 'See whether the server runs, and the address of `winterdock mcp`.';
      this.#write(errorAnswer(id, SERVER_ERROR, { detail, code: 'network', hint }));
    } finally {
      if (id !== null && this.#open.get(id) === leaving) this.#open.delete(id);
    }
  }

  #learn({ method }: McpMessage, { result }: McpMessage): void {
    if (method !== 'initialize' || typeof result !== 'object' || result === null) return;
    if ('protocolVersion' in result) this.#revision = String(result.protocolVersion);
  }

  /** What the server sends to one message. */
  async *#answers(message: McpMessage, signal: AbortSignal): AsyncGenerator<McpMessage, void, void> {
    const response = await fetch(`${this.#server.url}/api/mcp`, {
      method: 'POST',
      headers: this.#headersOf(message),
      body: JSON.stringify(message),
      redirect: 'error',
      signal,
    });
    if (response.ok && response.body !== null && isEventStream(response)) {
      for await (const { event, data } of serverSent(response.body)) {
        if (event === 'message') yield JSON.parse(data) as McpMessage;
      }
      return;
    }
    const text = await response.text();
    const answer = documentOf(text);
    if (answer === null && response.ok) return;
    if (answer !== null && 'jsonrpc' in answer) yield answer as McpMessage;
    else if (message.id !== undefined) yield refusal(message.id, response, answer) as McpMessage;
  }

  #headersOf({ method, params }: McpMessage): Record<string, string> {
    const meta = params?._meta as Record<string, unknown> | undefined;
    const own = meta?.[REVISION];
    const revision = typeof own === 'string' ? own : this.#revision;
    const name = params?.name;
    return {
      authorization: `Bearer ${this.#server.key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-winterdock-client': 'cli',
      ...(revision === null || method === 'initialize' ? {} : { 'mcp-protocol-version': revision }),
      ...(typeof own === 'string' && method !== undefined ? { 'mcp-method': method } : {}),
      ...(typeof own === 'string' && typeof name === 'string' ? { 'mcp-name': name } : {}),
    };
  }
}

function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** JSON that is one object, or null. */
function documentOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The server refused the request before it came to a tool: its problem as an answer. */
function refusal(id: string | number, response: Response, problem: object | null): object {
  if (problem === null || !('detail' in problem)) {
    const detail = `${response.url} answered ${response.status}, and not as a Winterdock server does.`;
    return errorAnswer(id, SERVER_ERROR, { detail, code: 'unexpected' });
  }
  const { detail, code, hint } = problem as Failure;
  return errorAnswer(id, SERVER_ERROR, { detail, code, hint: code === 'unauthorized' ? keyHint(null) : hint });
}

export function addMcpCommand(program: Command): void {
  addCommand(program, 'mcp', {
    summary: 'give an agent its sandboxes as MCP tools, over stdio',
    description:
      'For hosts that start a program: Claude Desktop, Cursor, VS Code and others. Speaks the Model Context Protocol on stdin and stdout, and calls the server with the key of the login or of WINTERDOCK_KEY: the agent may what that key may. A host that connects by itself uses the address of the server with /api/mcp instead.',
    examples: [
      ['mcp', 'with the server and the key of the last login'],
      ['mcp --url https://dock.example', 'with another server, for which there is a login'],
    ],
    async run({ server, signal }) {
      if (server.key === null) {
        throw new CliError('refused', `There is no key for ${server.url}.`, keyHint(server.url));
      }
      const carrier = new MessageCarrier(server, (message) => process.stdout.write(`${JSON.stringify(message)}\n`));
      const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
      signal.addEventListener('abort', () => lines.close(), { once: true });
      for await (const line of lines) if (line.trim() !== '') void carrier.take(line);
      // The host has gone: nobody waits for what still runs.
      carrier.close();
    },
  });
}
