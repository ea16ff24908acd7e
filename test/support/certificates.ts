import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A certificate and its key: paths of PEM files, and of one with both, as Kafka wants them. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  readonly both: string;
}

/** A CA in a folder of its own. */
export class TestCa {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ranklog-ca-'));
  readonly #own: KeyPair;

  constructor() {
    this.#own = this.#create('ca', ['-addext', 'basicConstraints=critical,CA:TRUE']);
  }

  get cert(): string {
    return this.#own.cert;
  }

  /**
   * A certificate for a client of this name, or for a server at these names, such as
   * `IP:127.0.0.1`.
   */
  issue(name: string, names = ''): KeyPair {
    const { cert, key } = this.#own;
    const alternative = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
    return this.#create(name, ['-CA', cert, '-CAkey', key, ...alternative]);
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  #create(name: string, options: readonly string[]): KeyPair {
    const [cert, key, both] = [`${name}.cert.pem`, `${name}.key.pem`, `${name}.pem`].map((file) =>
      this.path(file),
    ) as [string, string, string];
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
    const subject = ['-nodes', '-days', '2', '-subj', `/O=Test/CN=${name}`];
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert, ...options], {
      stdio: 'pipe',
    });
    writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'));
    return { cert, key, both };
  }
}
