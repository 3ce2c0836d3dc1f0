/** A model of the AI SDK that does what a script says. */
import { MockLanguageModelV4 } from 'ai/test';

/** A step of the scripted model: a tool with its input, made from what the last tool answered; or its last words. */
export type Step = (last: string) => { tool: string; input: Record<string, unknown> } | string;

/** A model that does one step after the other. */
export function scripted(steps: Step[]): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const answer = last?.role === 'tool' ? JSON.stringify(last.content) : '';
      const step = steps[at]?.(answer) ?? 'nothing more to do';
      at += 1;
      const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
      const said = { usage: { inputTokens: tokens, outputTokens: tokens }, warnings: [] };
      if (typeof step === 'string') {
        return { ...said, content: [{ type: 'text', text: step }], finishReason: { unified: 'stop', raw: 'stop' } };
      }
      const call = { toolCallId: `call-${at}`, toolName: step.tool, input: JSON.stringify(step.input) };
      return {
        ...said,
        content: [{ type: 'tool-call', ...call }],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      };
    },
  });
}
