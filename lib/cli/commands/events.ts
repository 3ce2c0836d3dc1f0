/** `events`: the ledger, page by page or as it grows. */
import type { Command } from 'commander';
import type { Event } from '../../client/client.ts';
import { TRIGGERS } from '../../lifecycle/words.ts';
import { choice } from '../choice.ts';
import { addCommand, parseSeconds, parseWholeNumber } from '../command.ts';
import { actorText, millisecondsText, printable, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { type SandboxOption, sandboxFrom, sandboxOption } from '../sandbox-option.ts';

interface EventOptions extends ListOptions, SandboxOption {
  follow?: boolean;
  after?: number;
  tenant?: string;
  type?: string;
  actor?: string;
  trigger?: Event['trigger'];
  request?: string;
  within?: number;
}

const HEADINGS = ['SEQ', 'TIME', 'SANDBOX', 'WHAT', 'TOOK', 'BY', 'WHY'];

function cells(event: Event): string[] {
  const what = event.from !== null && event.to !== null ? `${event.from} → ${event.to}` : event.type;
  const source = event.source === null ? '' : ` from ${event.source}`;
  return [
    String(event.seq),
    timeText(event.time),
    event.instance ?? '–',
    `${what}${source}`,
    event.took_ms === null ? '–' : millisecondsText(event.took_ms),
    `${actorText(event.actor, event.actor_name)} (${event.via}, ${event.trigger})`,
    event.error ?? event.reason ?? '',
  ];
}

export function addEventCommands(program: Command): void {
  addCommand<EventOptions>(program, 'events', {
    summary: 'show the ledger, or follow it as it grows',
    description:
      'Newest first; with --follow oldest first, from now or from --after on, until Ctrl-C, over broken connections without a gap. With --json a follow prints one JSON document a line.',
    options: (command) =>
      listOptions(
        sandboxOption(command)
          .option('--follow', 'wait for what comes')
          .option('--after <seq>', 'with --follow: begin after this line of the ledger', parseWholeNumber)
          .option('--tenant <tenant>', 'only of this tenant')
          .option('--type <type>', 'only of this type, such as transition')
          .option('--actor <actor>', 'only by this actor')
          .addOption(choice('--trigger <trigger>', 'only by this trigger', TRIGGERS))
          .option('--request <id>', 'only of this request, or of the job with this id')
          .option('--within <duration>', 'only of the last 15m, 24h, 7d …', parseSeconds),
        50,
      ),
    examples: [
      ['events --sandbox sess-841', 'what happened to it'],
      ['events --type transition --within 1h --all', 'all moves of the last hour'],
      ['events --follow --json', 'feed another program'],
    ],
    async run(context, options) {
      const { client, json, signal } = context;
      const { tenant, type, actor, trigger } = options;
      const filter = { instance: sandboxFrom(options), tenant, type, actor, trigger };
      if (options.follow !== true) {
        const since = options.within === undefined ? undefined : Math.floor(Date.now() / 1000) - options.within;
        return printList(context, options, {
          read: (limit) => client.listEvents({ ...filter, request_id: options.request, since, limit }, { signal }),
          headings: HEADINGS,
          row: cells,
          none: 'Nothing happened.',
        });
      }
      const lost = () => context.note('winterdock: the connection broke; it is made again.');
      const stream = client.streamEvents({ ...filter, last_event_id: options.after }, { signal, onLost: lost });
      for await (const event of stream) {
        process.stdout.write(
          json
            ? `${JSON.stringify(event)}\n`
            : `${cells(event)
                .map((cell) => printable(cell))
                .join('  ')
                .trimEnd()}\n`,
        );
      }
    },
  });
}
