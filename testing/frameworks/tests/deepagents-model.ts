/** A chat model of LangChain that does what a script says. */
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

/** A step of the model: a tool with its input, made from what the last tool answered; or its last words. */
export type Step = (last: string) => { tool: string; input: Record<string, unknown> } | string;

export class ScriptedChatModel extends BaseChatModel {
  readonly #steps: Step[];
  /** The names of the tools that it was offered last. */
  offered: string[] = [];
  #at = 0;

  constructor(steps: Step[]) {
    super({});
    this.#steps = steps;
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: { name?: unknown }[]): this {
    this.offered = tools.map(({ name }) => String(name));
    return this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const last = messages.at(-1);
    const step = this.#steps[this.#at]?.(ToolMessage.isInstance(last) ? last.text : '') ?? 'nothing more to do';
    this.#at += 1;
    const message =
      typeof step === 'string'
        ? new AIMessage(step)
        : new AIMessage({
            content: '',
            tool_calls: [{ name: step.tool, args: step.input, id: `call-${this.#at}`, type: 'tool_call' }],
          });
    return { generations: [{ text: message.text, message }] };
  }
}
