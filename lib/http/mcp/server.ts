/**
 * Answers one message of the Model Context Protocol with the official SDK: a server of its own for each request, with
 * the tools of who asks. The SDK is loaded with the first request. Knows nothing of how a request came in.
 */
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import packageJson from '../../../package.json' with { type: 'json' };
import { isWinterdockError, messageOf } from '../../base/errors.ts';
import { toProblem } from '../problem.ts';
import type { Services } from '../route.ts';
import { parse } from '../validate.ts';
import { inOwnWords, type McpTool, type ToolAnswer, type ToolContext } from './tool.ts';
import { toolNamed, toolsFor } from './tools.ts';

/** How often a caller who asked for progress is told that a call goes on. */
const PROGRESS_MS = 1000;
/** How often a stream without words shows that it lives. */
const KEEP_ALIVE_MS = 15_000;
const INSTRUCTIONS = `Winterdock gives you sandboxes: a shell with Python, JavaScript, SQLite and git over files of their own, which outlive every process.
Create one (winterdock_create_sandbox) or find yours (winterdock_list_sandboxes), and keep its id. Run commands with winterdock_exec; read, write and edit files with the tools for files. A sandbox that sleeps wakes by itself. /workspace and /memory are kept, /tmp is not. Long answers are cut and say so: ask for a part.
An answer is one JSON object of facts, then the texts that its member "texts" names, as they are. An error says what to do about it.`;

export interface McpParts {
  services: Pick<Services, 'operations' | 'admit' | 'events'>;
  caller: ToolContext['caller'];
  /** Ends the call and its answer. */
  signal: AbortSignal;
}

/** Answers a message that is parsed already. `request` has its headers, and is not read. */
export async function answerMessage(request: Request, message: unknown, parts: McpParts): Promise<Response> {
  const sdk = await import('@modelcontextprotocol/server');
  const build = () => {
    const about = { name: 'winterdock', title: 'Winterdock', version: packageJson.version };
    const server = new sdk.Server(about, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
    server.setRequestHandler('tools/list', () => ({ tools: toolsFor(parts.caller) }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = toolNamed(params.name);
      if (tool === undefined) {
        const name = JSON.stringify(params.name.slice(0, 80));
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
      }
      return callTool(tool, params.arguments ?? {}, parts, context);
    });
    return server;
  };
  // Nothing that is listed ever changes: there is nothing to subscribe to.
  const handler = sdk.createMcpHandler(build, { maxSubscriptions: 0, keepAliveMs: KEEP_ALIVE_MS });
  return handler.fetch(request, { parsedBody: message });
}

async function callTool(
  tool: McpTool,
  input: unknown,
  parts: McpParts,
  context: ServerContext,
): Promise<CallToolResult> {
  const { services, caller, signal } = parts;
  const { progress, stop } = progressOf(context);
  try {
    // Before the input is looked at: a forbidden call learns nothing.
    await services.admit(caller, tool.operation);
    const parsed = parse(tool.input, inOwnWords(tool, input), 'input of the tool');
    return resultOf(await tool.run({ operations: services.operations, caller, signal, progress }, parsed));
  } catch (error) {
    if (signal.aborted) throw signal.reason ?? error;
    if (!isWinterdockError(error)) services.events.failed(error);
    return failureOf(error, caller.requestId);
  } finally {
    stop();
  }
}

/** Facts first, as one line of JSON; then each text in a block of its own. */
function resultOf({ facts, texts = [] }: ToolAnswer): CallToolResult {
  return { content: [JSON.stringify(facts), ...texts].map((text) => ({ type: 'text' as const, text })) };
}

/** The problem, in a sentence for the model and as an object for programs. */
function failureOf(error: unknown, requestId: string): CallToolResult {
  const problem = toProblem(error, requestId);
  const { code, detail, hint, errors = [] } = problem;
  const wrong = errors.map(({ path, message }) => `${path === '' ? 'input' : path}: ${message}`);
  const lines = [`${detail} [${code}]`, ...(errors.length > 1 ? wrong : []), ...(hint === undefined ? [] : [hint])];
  return { isError: true, content: [{ type: 'text', text: lines.join('\n') }], structuredContent: problem };
}

/** Tells the caller what a call is doing, now and then, when it asked for that. */
function progressOf({ mcpReq }: ServerContext): { progress: ToolContext['progress']; stop(): void } {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return { progress: () => undefined, stop: () => undefined };
  const began = performance.now();
  let words = 'Under way';
  let told = '';
  let last = 0;
  const tell = () => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    // The protocol wants each to be more than the one before.
    last = Math.max(seconds, last + 0.1);
    told = words;
    const params = { progressToken: token, progress: last, message: words };
    // A client that has gone is told nothing more; its call ends by the signal.
    mcpReq.notify({ method: 'notifications/progress', params }).catch((error: unknown) => messageOf(error));
  };
  const timer = setInterval(tell, PROGRESS_MS);
  return {
    progress(now) {
      words = now;
      if (told === '') tell();
    },
    stop: () => clearInterval(timer),
  };
}
