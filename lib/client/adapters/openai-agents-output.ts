/** Outputs of commands as the OpenAI Agents SDK shows them to models. Pure. */
import type { AgentsExecResult } from './openai-agents-types.ts';

/** Characters that a token is about, as the framework counts. */
const CHARACTERS_OF_TOKEN = 4;

/** An output of at most so many tokens: its middle is cut, and says by how much. */
export function fittingOutput(output: string, maxTokens: number | undefined): { text: string; tokens?: number } {
  if (maxTokens === undefined || output.length <= maxTokens * CHARACTERS_OF_TOKEN) return { text: output };
  const kept = Math.max(0, maxTokens * CHARACTERS_OF_TOKEN);
  const head = output.slice(0, Math.ceil(kept / 2));
  const tail = kept < 2 ? '' : output.slice(-Math.floor(kept / 2));
  const left = output.length - head.length - tail.length;
  return {
    text: `${head}\n[winterdock: ${left} characters are left out here]\n${tail}`,
    tokens: Math.ceil(output.length / CHARACTERS_OF_TOKEN),
  };
}

/** What a model reads of a command. */
export function execAnswer({ output, exitCode, wallTimeSeconds, originalTokenCount }: AgentsExecResult): string {
  return [
    `Wall time: ${wallTimeSeconds.toFixed(4)} seconds`,
    `Process exited with code ${exitCode}`,
    ...(originalTokenCount === undefined ? [] : [`Original token count: ${originalTokenCount}`]),
    'Output:',
    output,
  ].join('\n');
}
