/** What ran in the sandboxes of a tenant printed, together. */
import { notFound } from 'next/navigation';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../../caller.ts';
import { LogSection } from '../../../log-section.tsx';
import type { SearchParams } from '../../../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Logs of a tenant' };

interface Props {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function TenantLogs({ params, searchParams }: Props) {
  const { tenant } = await params;
  const path = `/tenants/${tenant}/logs`;
  const caller = await requireCaller(path);
  await getHost()
    .operations.getTenant(caller, tenant)
    .catch((error: unknown) => {
      if (isWinterdockError(error) && ['not_found', 'validation'].includes(error.code)) notFound();
      throw error;
    });
  const place = { caller, tenant, path, search: await searchParams, rendered: renderedAt() };
  return (
    <>
      <header className="pt-6 pb-6 sm:pt-8">
        <Breadcrumbs
          steps={[
            { name: 'Tenants', href: '/tenants' },
            { name: tenant, href: `/tenants/${tenant}` },
          ]}
        />
        <h1 className="headline">
          What it printed <span className="quiet">all of its sandboxes together</span>
        </h1>
      </header>
      <LogSection {...place} instance={null} kept={{}} />
    </>
  );
}
