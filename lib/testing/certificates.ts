/** For tests: certificates, and the authorities that sign them. `openssl` makes both. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

/**
 * Makes a new authority, and a certificate that it signs, in an empty folder. `names`: whom that is for, hosts or
 * addresses; the first is its common name too.
 */
export function makeCertificate(folder: string, names: readonly string[]) {
  const openssl = (...options: string[]) => execFileSync('openssl', options, { cwd: folder, stdio: 'pipe' });
  const key = (name: string) => openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`);
  key('ca');
  key('server');
  openssl(
    ...['req', '-x509', '-new', '-key', 'ca.key', '-days', '2', '-subj', '/CN=Authority of a test', '-out', 'ca.pem'],
    ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'],
  );
  openssl('req', '-new', '-key', 'server.key', '-subj', `/CN=${names[0]}`, '-out', 'server.csr');
  const alternatives = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`);
  writeFileSync(join(folder, 'extensions'), `subjectAltName=${alternatives.join(',')}\n`);
  openssl(
    ...['x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'],
    ...['-days', '2', '-extfile', 'extensions', '-out', 'server.pem'],
  );
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { caFile: join(folder, 'ca.pem'), key: read('server.key'), cert: read('server.pem') };
}
