import { ArrayNotEmpty, Equals, IsIn, IsNotEmpty, IsString, Matches } from 'class-validator';

const SCOPES = ['read', 'write', 'operate'] as const;
export type Scope = (typeof SCOPES)[number];

const hasHash = ({ sha256 }: Partial<TokenEntry>) => sha256 !== undefined;
const hasNoHash = (entry: Partial<TokenEntry>) => !hasHash(entry);

/**
 * An entry of the file of tokens, with either `token` or `sha256`. If several decorators of a field
 * fail, the problem comes from the lowest one.
 */
export class TokenEntry {
  @IsNotEmpty()
  @IsString()
  name: string;

  @Matches(/^[!-~]{16,}$/, {
    message: 'token must be a text of 16 or more ASCII letters, digits or signs',
    validateIf: hasNoHash,
  })
  @Equals(undefined, { message: 'token must be left out if there is sha256', validateIf: hasHash })
  token?: string;

  @Matches(/^[0-9a-f]{64}$/, {
    message: 'sha256 must be a text of 64 lower-case hexadecimal digits',
    validateIf: hasHash,
  })
  sha256?: string;

  // `each` checks a value that is no list as if it were an item.
  @IsIn(SCOPES, { each: true })
  @ArrayNotEmpty({ message: 'scopes must be a list that is not empty' })
  scopes: Scope[];
}
