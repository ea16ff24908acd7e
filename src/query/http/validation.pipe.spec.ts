import { describe, expect, it } from '@jest/globals';
import { validate } from 'class-validator';
import fc from 'fast-check';
import { runs } from '../../../test/model/arbitrary.js';
import {
  AnyFields,
  Flag,
  DtoList,
  ObjectList,
  OneOf,
  Percent,
  Text,
  TextList,
  TextMap,
  Time,
  Whole,
} from '../dto/fields.js';
import { surelyPasses } from './compiled-checks.js';
import { parseQuery } from './query-string.js';
import { RequestPipe } from './validation.pipe.js';

class Part {
  @Text('.', { required: true }) board: string;
  @Flag('.') dense?: boolean;
}

/** A field of each kind. */
class Request extends Part {
  @Text('.') declare board: string; // not required here
  @Time('.') at?: string;
  @Whole('.', 1, 10) limit?: number;
  @Percent('.') percent?: number;
  @OneOf('.', ['ndjson', 'csv']) format?: string;
  @TextList('.', 1, 3) view?: string[];
  @TextMap('.') where?: Record<string, string>;
  @ObjectList('.', 1, 2) events?: object[];
}

class Parts {
  @DtoList(() => Part, '.', 2) parts: Part[];
}

@AnyFields('.')
class Open {
  @Text('.') view?: string;
}

const pipe = new RequestPipe();
const inUrl = (text: string) =>
  pipe.transform(parseQuery(text), { type: 'query', metatype: Request });
const inBody = (text: string, metatype: new () => object = Request) =>
  pipe.transform(JSON.parse(text), { type: 'body', metatype });

describe('a query', () => {
  it.each([
    ['', {}],
    ['board=&at=2026-11-20T09:00:00Z', { board: '', at: '2026-11-20T09:00:00Z' }],
    ['limit=1', { limit: 1 }],
    ['limit=010', { limit: 10 }],
    ['percent=0.5', { percent: 0.5 }],
    ['percent=1e-7', { percent: 1e-7 }],
    ['percent=100', { percent: 100 }],
    ['dense=true', { dense: true }],
    ['dense=false', { dense: false }],
    ['format=csv', { format: 'csv' }],
    ['view=a', { view: ['a'] }],
    ['view=a&view=b&view=b', { view: ['a', 'b', 'b'] }],
    ['where.region=eu&where.constructor=x', { where: { region: 'eu', constructor: 'x' } }],
    ['where.__proto__=x', { where: JSON.parse('{"__proto__":"x"}') as object }],
  ])('%s is converted', async (text, expected) => {
    const request = await inUrl(text);
    expect(request).toBeInstanceOf(Request);
    expect(JSON.parse(JSON.stringify(request))).toEqual(expected);
  });

  const [LIMIT, PERCENT] = [
    'limit must be a whole number from 1 to 10',
    'percent must be a number',
  ];
  it.each([
    ['board=a&board=b', 'board must be a string, not ["a","b"]'],
    ['limit=0', `${LIMIT}, not 0`],
    ['limit=11', `${LIMIT}, not 11`],
    ['limit=', `${LIMIT}, not ""`],
    ['limit=%20', `${LIMIT}, not " "`],
    ['limit=1.5', `${LIMIT}, not "1.5"`],
    ['limit=0x1', `${LIMIT}, not "0x1"`],
    ['limit=1e1', `${LIMIT}, not "1e1"`],
    ['limit=1&limit=2', `${LIMIT}, not ["1","2"]`],
    ['percent=0', `${PERCENT} above 0 and up to 100, not 0`],
    ['percent=101', PERCENT],
    ['percent=1e400', `${PERCENT} above 0 and up to 100, not "1e400"`],
    ['percent=', PERCENT],
    ['dense=no', 'dense must be true or false, not "no"'],
    ['dense=', 'dense must be true or false, not ""'],
    ['dense=1', 'dense must be true or false, not "1"'],
    ['at=2026-11-20', 'at must be an RFC 3339 time with a zone, such as 2026-11-20T09:00:00Z'],
    ['format=xml', 'format must be one of ndjson, csv, not "xml"'],
    ['view=a&view=a&view=a&view=a', 'view must have at most 3 values, not 4'],
    ['where.a=1&where.a=2', 'where.a must be a string, not ["1","2"]'],
    [`board=${'a'.repeat(50)}&board=${'a'.repeat(50)}`, 'board must be a string, not a list of 2'],
  ])('%s is refused', async (text, detail) => {
    const problem = { code: 'INVALID_REQUEST', message: expect.stringContaining(detail) };
    await expect(inUrl(text)).rejects.toMatchObject(problem);
  });

  it.each([
    ['wher=a', '"wher"'],
    ['__proto__=a', '"__proto__"'],
    ['constructor=a', '"constructor"'],
    ['toString=a', '"toString"'],
    ['hasOwnProperty=a', '"hasOwnProperty"'],
    ['where=a', '"where" here; write where.NAME=VALUE'],
    ['score.wins=1', '"score.NAME"'],
    ['region=eu', 'a dimension is "where.region"'],
  ])('%s has an unknown name', async (text, detail) => {
    const problem = { code: 'UNKNOWN_PARAMETER', message: expect.stringContaining(detail) };
    await expect(inUrl(text)).rejects.toMatchObject(problem);
  });
});

it('the value of a decorator by createParamDecorator is left to its author', async () => {
  expect(await pipe.transform('x', { type: 'custom', metatype: Request })).toBe('x');
});

it('compiled checks have the verdict of class-validator', async () => {
  const value = fc.constantFrom<unknown>(
    ...[undefined, null, '', 'a', 'csv', '2026-11-20T09:00:00Z', true, 0, 1, 10, 11, 1.5, -1, 101],
    ...[[], ['a'], ['a', 5], [{}], [[]], [null], {}, { a: 'b' }, { a: 5 }],
  );
  const names = ['board', 'dense', 'at', 'limit', 'percent', 'format', 'view', 'where', 'events'];
  const values = fc.record(Object.fromEntries(names.map((name) => [name, value])));
  const verdicts = { true: 0, false: 0 };
  const property = fc.asyncProperty(
    fc.oneof(values, fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 2 })),
    async (given) => {
      const instance = Object.assign(new Request(), given);
      const isRight = (await validate(instance)).length === 0;
      expect(surelyPasses(Request, instance)).toBe(isRight);
      verdicts[`${isRight}`] += 1;
    },
  );
  await fc.assert(property, runs(2_000));
  expect(verdicts.true).toBeGreaterThan(50);
  expect(verdicts.false).toBeGreaterThan(50);
});

describe('a body', () => {
  it.each([
    ['{"limit":5,"dense":false,"percent":0.5}'],
    ['{"view":["a","b"],"events":[{},{"constructor":1}]}'],
    ['{"where":{"toString":"x"}}'],
  ])('%s stays as it is', async (text) => {
    expect(JSON.parse(JSON.stringify(await inBody(text)))).toEqual(JSON.parse(text));
  });

  it.each([
    ['[]', 'the body must be an object, not []'],
    ['null', 'the body must be an object, not null'],
    ['{"limit":"5"}', 'limit must be a whole number from 1 to 10, not "5"'],
    ['{"limit":null}', 'not null'],
    ['{"limit":1.5}', 'not 1.5'],
    ['{"percent":"5"}', 'percent must be a number'],
    ['{"dense":"true"}', 'dense must be true or false, not "true"'],
    ['{"at":5}', 'at must be'],
    ['{"board":{"constructor":1}}', 'board must be a string, not {"constructor":1}'],
    ['{"view":"a"}', 'view must be a list of 1 to 3 strings, not "a"'],
    ['{"view":[]}', 'view must be a list of 1 to 3 strings, not []'],
    ['{"view":["a",5]}', 'view.1 must be a string, not 5'],
    ['{"where":"a"}', 'where must be an object of strings by name, not "a"'],
    ['{"where":["a"]}', 'where must be an object of strings by name, not ["a"]'],
    ['{"where":{"a":5}}', 'where.a must be a string, not 5'],
    ['{"events":{}}', 'events must be a list of 1 to 2 objects, not {}'],
    ['{"events":[]}', 'events must be a list of 1 to 2 objects'],
    ['{"events":[{},{},{}]}', 'events must have at most 2 values, not 3'],
    ['{"events":[5]}', 'events must be a list of 1 to 2 objects'],
    ['{"events":[[]]}', 'events must be a list of 1 to 2 objects'],
  ])('%s is refused', async (text, detail) => {
    const problem = { code: 'INVALID_REQUEST', message: expect.stringContaining(detail) };
    await expect(inBody(text)).rejects.toMatchObject(problem);
  });

  it('has a list of objects of a class', async () => {
    const text = '{"parts":[{"board":"a","dense":true},{"board":"b"}]}';
    const request = (await inBody(text, Parts)) as Parts;
    expect(JSON.stringify(request)).toBe(text);
    expect(request.parts[1]).toBeInstanceOf(Part);
  });

  it.each([
    ['{}', 'parts must be a list of objects, but is missing'],
    ['{"parts":[{}]}', 'parts.0.board must be a string, but is missing'],
    ['{"parts":[{"board":"a"},{"board":5}]}', 'parts.1.board must be a string, not 5'],
    ['{"parts":[{"board":"a","dense":"true"}]}', 'parts.0.dense must be true or false'],
    ['{"parts":[[{"board":"a"}]]}', 'parts must be a list of objects, not [[{"board":"a"}]]'],
    ['{"parts":{"constructor":null}}', 'parts must be a list of objects'],
    ['{"parts":[[{"constructor":null}]]}', 'parts must be a list of objects'],
    ['{"parts":[null]}', 'parts must be a list of objects, not [null]'],
    [
      '{"parts":[{"board":"a"},{"board":"a"},{"board":"a"}]}',
      'parts must have at most 2 values, not 3',
    ],
    ['{"parts":[{"board":"a","constructor":1}]}', '"constructor" here; use board, dense'],
    ['{"parts":[{"boerd":"a"}]}', '"boerd" here; use board, dense'],
  ])('%s is refused, too', async (text, detail) => {
    const problem = { message: expect.stringContaining(detail) };
    await expect(inBody(text, Parts)).rejects.toMatchObject(problem);
  });

  it('has no field of a class that extends its own', async () => {
    await expect(inBody('{"board":"a","limit":1}', Part)).rejects.toThrow('"limit" here');
  });

  it('with too long a list is refused before an instance is made', async () => {
    let made = 0;
    class Counted {
      readonly number = (made += 1);
    }
    class Long {
      @DtoList(() => Counted, '.', 2) parts: Counted[];
    }
    const list = Array(349_000).fill('{}').join(); // as many as a body can have
    const refusal = 'parts must have at most 2 values, not 349000';
    await expect(inBody(`{"parts":[${list}]}`, Long)).rejects.toThrow(refusal);
    expect(made).toBe(0);
  });

  it('has no part of its text expanded in the problem', async () => {
    const text = '$value $property $target $constraint1';
    const shown = `not ${JSON.stringify(text)}`;
    await expect(inBody(JSON.stringify({ limit: text }))).rejects.toThrow(shown);
    const where = { [text]: 5 };
    await expect(inBody(JSON.stringify({ where }))).rejects.toThrow(`where.${text} must be`);
  });

  it('of a class with any fields keeps those that it does not know', async () => {
    const text = '{"view":"a","constructor":{"x":1},"toString":[1]}';
    expect(JSON.stringify(await inBody(text, Open))).toBe(text);
    await expect(inBody('{"view":5}', Open)).rejects.toThrow('view must be a string, not 5');
  });

  it('with more than 1,000 levels is refused', async () => {
    const levels = (count: number) => `{"view":${'['.repeat(count)}${']'.repeat(count)}}`;
    await expect(inBody(levels(20_000))).rejects.toThrow('more than 1000 levels of nesting');
  });
});
