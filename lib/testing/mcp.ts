/** For tests: the official clients at the MCP endpoint of a real server, in today's revision and in older ones. */
import { Client, EarlierClient, EarlierHttpTransport, StreamableHTTPClientTransport } from '#peers/mcp.ts';
import { TEST_KEY } from './key.ts';

/** What a test reads of a tool's answer. */
interface ToolText {
  isError: boolean;
  /** The first text, as JSON; an empty object when it is an error. */
  facts: Record<string, unknown>;
  /** The texts after it; of an error, all. */
  texts: string[];
  problem: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

/** What both clients have, as far as tests use it. */
interface AnyClient {
  listTools(): Promise<{
    tools: { name: string; description?: string | undefined; annotations?: object | undefined }[];
  }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }, ...rest: never[]): Promise<object>;
  close(): Promise<void>;
}

export interface Agent {
  tools(): Promise<string[]>;
  /** Calls a tool by its name without the prefix. Rejects with errors of the protocol alone. */
  call(tool: string, input: Record<string, unknown>, options?: CallOptions): Promise<ToolText>;
  client: AnyClient;
  close(): Promise<void>;
}

/** Reads the answer of a tool. */
function read(answer: object): ToolText {
  const {
    isError = false,
    content,
    structuredContent = {},
  } = answer as {
    isError?: boolean;
    content: { type: string; text: string }[];
    structuredContent?: Record<string, unknown>;
  };
  const [first = '', ...texts] = content.map(({ text }) => text);
  if (isError) return { isError, facts: {}, texts: [first, ...texts], problem: structuredContent };
  return { isError, facts: JSON.parse(first) as Record<string, unknown>, texts, problem: {} };
}

/** An agent with the client of the present revision: options are its second argument. */
export function agentOf(client: AnyClient, isEarlier: boolean): Agent {
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(tool, input, options = {}) {
      const params = { name: `winterdock_${tool}`, arguments: input };
      const rest = (isEarlier ? [undefined, options] : [options]) as never[];
      return read(await client.callTool(params, ...rest));
    },
    close: () => client.close(),
  };
}

export const REVISIONS = ['2026-07-28', '2025-11-25', 'the client before'] as const;

/** Connects a client over HTTP. */
export async function connectAgent(
  url: string,
  { key = TEST_KEY, revision = '2026-07-28' }: { key?: string; revision?: (typeof REVISIONS)[number] } = {},
): Promise<Agent> {
  const address = new URL(`${url}/api/mcp`);
  const about = { name: 'a test', version: '1' };
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  if (revision === 'the client before') {
    const client = new EarlierClient(about);
    // Its types and ours disagree about members that may be undefined.
    await client.connect(new EarlierHttpTransport(address, { requestInit }) as never);
    return agentOf(client as unknown as AnyClient, true);
  }
  const mode = revision === '2026-07-28' ? { pin: revision } : ('legacy' as const);
  const client = new Client(about, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
  return agentOf(client as unknown as AnyClient, false);
}
