import { expect, it } from '@jest/globals';
import { IdentityCheck } from '#board-store';
import { membershipOf } from './group-membership.js';

it.each(['no JSON', 'null', '[1]', ''])(
  'a group of members whose user data is "%s" is refused with their names',
  (userData) => {
    const { refusal } = membershipOf(new IdentityCheck({ group: 'g', topicPrefix: 't' }));
    const members = [{ memberId: 'm', host: '/1.2.3.4', topics: ['theirs'], userData }];
    const error = refusal({ groupId: 'g', protocol: 'ranklog-of-a-stranger', members });
    expect(error).toMatchObject({
      name: 'GroupTakenError',
      message: expect.stringContaining('m at 1.2.3.4, reading theirs'),
    });
  },
);
