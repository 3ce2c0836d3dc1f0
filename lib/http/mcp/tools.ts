/** Every tool of the MCP endpoint, and how hosts are told of them. */
import { z } from 'zod';
import type { Rights } from '../../contract/access.ts';
import { callTools } from './call-tools.ts';
import { fileTools } from './file-tools.ts';
import { logTools } from './log-tools.ts';
import { momentTools } from './moment-tools.ts';
import { sandboxTools } from './sandbox-tools.ts';
import { isOffered, type McpTool } from './tool.ts';

export const MCP_TOOLS: readonly McpTool[] = [...sandboxTools, ...momentTools, ...callTools, ...logTools, ...fileTools];

const BY_NAME = new Map(MCP_TOOLS.map((tool) => [tool.name, tool]));

/** The tool of a name, offered to a role or not. */
export function toolNamed(name: string): McpTool | undefined {
  return BY_NAME.get(name);
}

/** A tool as the protocol lists it. */
interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: 'object'; [member: string]: unknown };
  annotations: McpTool['hints'] & { title: string };
}

const LISTED = new Map<McpTool, ListedTool>();

/** JSON Schema of its input, made once. */
function listed(tool: McpTool): ListedTool {
  const known = LISTED.get(tool);
  if (known !== undefined) return known;
  const { name, title, description, hints } = tool;
  const schema = z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' });
  const made: ListedTool = {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' },
    annotations: { title, ...hints },
  };
  LISTED.set(tool, made);
  return made;
}

/** The tools that a role is offered, in the order of the table. */
export function toolsFor(who: Rights): ListedTool[] {
  return MCP_TOOLS.filter((tool) => isOffered(tool, who)).map(listed);
}
