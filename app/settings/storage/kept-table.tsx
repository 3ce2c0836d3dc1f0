/** Every kept series and log: how many rows it has, how large it is, and what limits it. */
import { sizeInWords } from '#components/ui/durations.ts';
import type { Storage } from '#lib/contract/schema.ts';
import { figures } from './store-words.ts';

type Series = Storage['kept'][number];

const WORDS: Readonly<Record<Series['name'], { name: string; each: string }>> = {
  ledger: { name: 'Lines of the ledger', each: '' },
  sandbox_hours: { name: 'Usage of sandboxes by the hour', each: '' },
  tenant_hours: { name: 'Usage of tenants by the hour', each: '' },
  network_hours: { name: 'Hosts that sandboxes reached, by the hour', each: '' },
  cpu_days: { name: 'Processor time of tenants by the day', each: '' },
  wake_times: { name: 'Wake times by the day', each: '' },
  jobs: { name: 'Bulk jobs', each: '' },
  job_results: { name: 'Results of bulk jobs', each: '' },
  runs: { name: 'Runs', each: 'sandbox' },
  schedule_runs: { name: 'Runs of schedules', each: 'schedule' },
  webhook_deliveries: { name: 'Deliveries of webhooks', each: 'webhook' },
  workbook_versions: { name: 'Versions of workbooks', each: 'workbook, and those in use' },
};

function limitInWords({ value, unit }: Series['limits'][number], each: string): string {
  if (value === null) return 'no limit';
  return unit === 'each' ? `${figures(value)} of each ${each}` : `${figures(value)} ${unit}`;
}

export function KeptTable({ kept }: { kept: Storage['kept'] }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Rows
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            About
          </th>
          <th scope="col">Limit</th>
        </tr>
      </thead>
      <tbody>
        {kept.map(({ name, rows, more, about_bytes, limits }) => (
          <tr key={name}>
            <td className="max-md:col-start-1">{WORDS[name].name}</td>
            <td className="text-right whitespace-nowrap max-md:col-start-2">
              {figures(rows)}
              {more && ' or more'}
              <span className="md:sr-only"> {rows === 1 ? 'row' : 'rows'}</span>
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-1 max-md:!text-left">
              {sizeInWords(about_bytes)}
            </td>
            <td className="max-md:col-span-full">
              {limits.map((limit) => (
                <span key={limit.setting} className="mr-4 inline-block">
                  {limitInWords(limit, WORDS[name].each)}{' '}
                  {limit.setting !== null && <code className="text-[0.8125rem] text-ink-3">{limit.setting}</code>}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
