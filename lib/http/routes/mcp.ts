/**
 * The MCP endpoint (Streamable HTTP): one address that takes a message and answers it, as JSON or as a stream. It is
 * stateless: each request stands for itself, with a key of its own. What it does are the operations that every other
 * endpoint calls.
 */

import type { Caller } from '../../auth/caller.ts';
import { isTrustedOrigin } from '../../auth/origin.ts';
import { WinterdockError } from '../../base/errors.ts';
import { isInstanceId } from '../../base/ids.ts';
import { type McpMessage, mcpMessageSchema } from '../../contract/schema.ts';
import { type Answer, empty, eventStream, type StreamSink } from '../answer.ts';
import { RunningCalls } from '../mcp/running-calls.ts';
import { answerMessage } from '../mcp/server.ts';
import { inOwnWords } from '../mcp/tool.ts';
import { toolNamed } from '../mcp/tools.ts';
import { firstToAbort } from '../revocation.ts';
import { customRoute, type Route, type RouteContext } from '../route.ts';

type Piece = ReadableStreamReadResult<Uint8Array>;
type McpContext = RouteContext<Record<string, never>, Record<string, never>, McpMessage>;

/** Headers of a request that the protocol reads. */
const READ_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];
const SESSION = 'mcp-session-id';
/** What the protocol allows in the name of a session. */
const SESSION_NAME = /^[\x21-\x7e]{1,200}$/;

const running = new RunningCalls();

export const mcpRoutes: Route[] = [
  customRoute({
    method: 'POST',
    path: '/mcp',
    // Anyone with a key may send messages; each tool asks for its own operation.
    operation: 'me',
    name: 'sendMcpMessage',
    summary:
      'Takes a message of the Model Context Protocol (Streamable HTTP, stateless, revisions 2026-07-28 and 2025) and answers it, as JSON or as `text/event-stream`. Its tools are the operations of this API, for the role and the tenants of the key. Closing the connection, and `notifications/cancelled`, stop what a call runs. A page of another origin is refused.',
    tag: 'Agents',
    headers: {
      'MCP-Protocol-Version': 'The revision that was negotiated',
      'Mcp-Method': 'The method of the message, from 2026-07-28 on',
      'Mcp-Name': 'The name of the tool, from 2026-07-28 on',
      'Mcp-Session-Id': 'As the answer to `initialize` gave it: names the calls that a cancellation means',
    },
    body: mcpMessageSchema,
    answers: {
      200: { description: 'The answer', schema: mcpMessageSchema, orMediaType: 'text/event-stream' },
      202: { description: 'A notification was taken' },
    },
    handle: answerMcp,
  }),
];

async function answerMcp(context: McpContext): Promise<Answer> {
  const { services, body, header } = context;
  refuseForeignPage(context);
  const caller: Caller = { ...context.caller, via: 'mcp' };
  const sent = header(SESSION);
  const session = sent !== null && SESSION_NAME.test(sent) ? sent : null;
  if (body.method === 'notifications/cancelled' && session !== null) {
    const id = body.params?.requestId;
    if (typeof id === 'string' || typeof id === 'number') running.cancel({ actor: caller.actor, session, id });
    return empty(202);
  }
  const call =
    session !== null && body.method === 'tools/call' && body.id !== undefined
      ? running.begin({ actor: caller.actor, session, id: body.id })
      : null;
  const end = () => call?.end();
  const signal = call === null ? context.signal : firstToAbort(context.signal, call.signal);
  try {
    const elsewhere = await answeredElsewhere(context, signal);
    if (elsewhere !== null) {
      const outgoing = elsewhere.body !== undefined && 'outgoing' in elsewhere.body ? elsewhere.body.outgoing : null;
      if (outgoing === null) end();
      else outgoing.stream.once('close', end);
      return elsewhere;
    }
    const response = await answerMessage(requestOf(context, signal), body, { services, caller, signal });
    const named: Record<string, string> =
      body.method === 'initialize' && response.ok ? { [SESSION]: running.newSession() } : {};
    return await answerOf(response, named, end);
  } catch (error) {
    end();
    throw error;
  }
}

/** A call of a tool is answered by the host that has its sandbox. Null: by this one. */
async function answeredElsewhere({ body, passOn }: McpContext, gone: AbortSignal): Promise<Answer | null> {
  if (passOn === null || body.method !== 'tools/call') return null;
  const { name, arguments: given } = (body.params ?? {}) as { name?: unknown; arguments?: unknown };
  const tool = typeof name === 'string' ? toolNamed(name) : undefined;
  const input = tool === undefined ? undefined : inOwnWords(tool, given);
  const id = typeof input === 'object' && input !== null && 'id' in input ? input.id : null;
  return isInstanceId(id) ? passOn(id, Buffer.from(JSON.stringify(body)), gone) : null;
}

/** Throws `forbidden` for a page of another origin, also of one whose name was made to lead here (DNS rebinding). */
function refuseForeignPage({ header, services }: McpContext): void {
  const origin = header('origin');
  if (origin === null || isTrustedOrigin(origin, header('host'), services.publicUrl)) return;
  throw new WinterdockError('forbidden', 'A page of another origin may not use the MCP endpoint.', {
    hint: 'Programs send no Origin header. Behind a name of its own, the server has to know it: WB_PUBLIC_URL.',
  });
}

/** The request as the SDK wants it: its headers, and what ends it. Its body is parsed already. */
function requestOf({ header }: McpContext, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const name of READ_HEADERS) {
    const value = header(name);
    if (value !== null) headers.set(name, value);
  }
  return new Request('http://localhost/api/mcp', { method: 'POST', headers, signal });
}

/**
 * The SDK's answer as ours; `end` is called when it is complete. A stream begins with its first piece: until then the
 * message counts as a body in memory.
 */
async function answerOf(response: Response, named: Record<string, string>, end: () => void): Promise<Answer> {
  const { status, body } = response;
  const type = response.headers.get('content-type') ?? '';
  if (body !== null && type.startsWith('text/event-stream')) {
    const reader = body.getReader();
    const first = await reader.read();
    const answer = eventStream((sink) => void forward(first, reader, sink).finally(end));
    return { ...answer, headers: { ...answer.headers, ...named } };
  }
  const text = await response.text();
  end();
  if (text === '') return empty(status, named);
  return { status, headers: { 'content-type': type, ...named }, body: { text } };
}

/** Sends a stream on, piece by piece, until it ends or its reader has gone. */
async function forward(first: Piece, reader: ReadableStreamDefaultReader<Uint8Array>, sink: StreamSink): Promise<void> {
  const leave = () => void reader.cancel().catch(() => undefined);
  sink.gone.addEventListener('abort', leave, { once: true });
  if (sink.gone.aborted) leave();
  try {
    for (let piece = first; !piece.done; piece = await reader.read()) sink.write(piece.value);
    sink.end();
  } catch {
    // The call was cancelled, or its key has ended: the connection ends in the middle of the answer.
    sink.drop();
  }
}
