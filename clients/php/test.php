<?php

declare(strict_types=1);

// php test.php, in this folder.

require __DIR__ . '/autoload.php';

use Bursar\BursarError;
use Bursar\Client;
use Bursar\NoResponse;
use Bursar\OrderKey;
use Bursar\Orders;
use Bursar\Webhook;
use Bursar\WebhookError;

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if (error_reporting() & $level) { // not of a call with @
        throw new ErrorException($message, 0, $level, $file, $line);
    }
    return false;
});

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA==';
const NOW = 1800000000;
const EVENT = ['eventID' => '01991f2e-6c00-7a3b-8c1d-0123456789ab', 'event' => 'test'];

/**
 * @param mixed $got
 * @param mixed $want
 */
function same($got, $want, string $what = ''): void
{
    if ($got !== $want) {
        throw new Exception("$what got " . var_export($got, true) . ', want ' . var_export($want, true));
    }
}

/**
 * @param class-string<Throwable> $class
 * @return Throwable that was thrown
 */
function refused(string $class, callable $act): Throwable
{
    try {
        $act();
    } catch (Throwable $thrown) {
        same(get_class($thrown), $class, $thrown->getMessage() . ':');
        return $thrown;
    }
    throw new Exception("got no error, want $class");
}

function success(array $response): array
{
    return [200, [], json_encode(['success' => true, 'response' => $response])];
}

function refusal(int $status, string $code, array $headers = []): array
{
    $error = ['code' => $code, 'message' => 'no', 'field' => 'amount', 'docs' => "/docs/errors#$code"];
    return [$status, $headers, json_encode(['success' => false, 'error' => $error])];
}

/** Answers with what it is given, in turn, and keeps what it was asked. */
final class Service
{
    public $asked = [];
    public $waits = [];
    private $answers;

    public function __construct(...$answers)
    {
        $this->answers = $answers;
    }

    public function client(array $settings = []): Client
    {
        return new Client($settings + [
            'baseURL' => 'https://pay.example/',
            'key' => 'the-key',
            'secret' => 'the-secret',
            'sleep' => function (float $seconds): void {
                $this->waits[] = $seconds;
            },
            'transport' => function (string $method, string $url, array $headers, ?string $body): array {
                $this->asked[] = [$method, $url, $headers, $body === null ? null : json_decode($body, true)];
                $answer = array_shift($this->answers);
                if ($answer instanceof Throwable) {
                    throw $answer;
                }
                return $answer;
            },
        ]);
    }
}

$tests = [];

$tests['a change keeps its key in each attempt'] = static function (): void {
    $withdrawal = ['withdrawalID' => 'w'];
    $busy = refusal(503, 'unavailable', ['Retry-After' => '7']);
    $s = new Service(new NoResponse('cut'), $busy, success(['withdrawal' => $withdrawal]));
    same($s->client()->withdraw(['currency' => 'BTC', 'amount' => '0.00000001', 'address' => 'a']), $withdrawal);
    $keys = array_unique(array_map(static fn (array $asked) => $asked[2]['Idempotency-Key'], $s->asked));
    same([count($s->asked), count($keys)], [3, 1]);
    same($s->asked[0][3]['amount'], '0.00000001');
    same($s->asked[0][2]['X-API-SECRET'], 'the-secret');
    same([$s->waits[0] >= 0.125 && $s->waits[0] <= 0.25, $s->waits[1]], [true, 7.0]);
};

// PHP takes the text 0 for nothing; as a key it must not become another one in each call.
$tests['the key 0 is a key'] = static function (): void {
    $s = new Service(success(['withdrawal' => ['withdrawalID' => 'w']]));
    $s->client()->withdraw(['currency' => 'BTC', 'amount' => '1', 'address' => 'a'], ['idempotencyKey' => '0']);
    same($s->asked[0][2]['Idempotency-Key'], '0');
};

$tests['refusals are not repeated'] = static function (): void {
    $s = new Service(refusal(422, 'insufficient_balance', ['X-Request-ID' => 'r1']));
    $e = refused(BursarError::class, static fn () => $s->client()->withdraw(
        ['currency' => 'BTC', 'amount' => '1', 'address' => 'a'],
        ['idempotencyKey' => 'mine']
    ));
    same(
        [$e->status, $e->errorCode, $e->field, $e->docs, $e->requestID, $e->idempotencyKey],
        [422, 'insufficient_balance', 'amount', '/docs/errors#insufficient_balance', 'r1', 'mine']
    );
};

$tests['a call ends'] = static function (): void {
    foreach ([
        [[refusal(429, 'rate_limited', ['Retry-After' => '31'])], [], 1],
        [[refusal(429, 'rate_limited', ['Retry-After' => '1']), refusal(429, 'rate_limited')], ['attempts' => 2], 2],
        [array_fill(0, 4, new NoResponse('late')), [], 4],
        [[[200, [], '<html>']], [], 1],
        [[[200, [], '{"success":true}']], [], 1],
    ] as [$answers, $settings, $attempts]) {
        $s = new Service(...$answers);
        $class = $answers[0] instanceof NoResponse ? NoResponse::class : BursarError::class;
        refused($class, static fn () => $s->client($settings)->getAccount());
        same(count($s->asked), $attempts);
    }
};

$tests["a date is read by the response's own clock"] = static function (): void {
    $dates = ['Retry-After' => 'Tue, 24 Nov 2026 12:00:09 GMT', 'Date' => 'Tue, 24 Nov 2026 12:00:00 GMT'];
    $s = new Service(refusal(503, 'unavailable', $dates), success(['rates' => []]));
    same([$s->client()->listRates(), $s->waits], [[], [9.0]]);
};

$tests['what cannot be meant is refused before it is sent'] = static function (): void {
    $c = (new Service())->client();
    $invalid = InvalidArgumentException::class;
    $sent = ['currency' => 'BTC', 'address' => 'a', 'reference' => 'r'];
    refused($invalid, static fn () => $c->withdraw($sent + ['amount' => 0.1]));
    refused($invalid, static fn () => $c->withdrawEach(['withdrawals' => [$sent + ['amount' => 0.1]]]));
    refused($invalid, static fn () => $c->createCharge($sent + ['ammount' => '1']));
    refused($invalid, static fn () => $c->createWallet(['currency' => "\xff"]));
    refused($invalid, static fn () => $c->withdraw($sent + ['amount' => '1'], ['idempotency_key' => 'mine']));
    refused($invalid, static fn () => $c->closeLink(['linkID' => 'l'], ['idempotencyKey' => "a\r\nX-API-KEY: b"]));
    foreach (['ftp://x', 'https://u:p@x', 'https://x?a', 'nothing', 'https://x#a'] as $url) {
        refused($invalid, static fn () => new Client(['baseURL' => $url, 'key' => 'k']));
    }
    refused($invalid, static fn () => new Client(['baseURL' => 'https://x', 'key' => '']));
    refused($invalid, static fn () => new Client(['baseURL' => 'https://x', 'key' => "k\r\n"]));
    refused($invalid, static fn () => new Client(['baseURL' => 'https://x', 'key' => 'k', 'attempt' => 2]));
};

$tests['parameters are written as the service reads them'] = static function (): void {
    $s = new Service(success(['charge' => ['n' => 1]]), success(['withdrawal' => []]), success(['webhook' => []]));
    $c = $s->client();
    $c->createCharge(['currency' => ['BTC', 'ETH'], 'webhook' => 'h', 'amount' => 5, 'metadata' => null]);
    $c->withdraw(['currency' => 'BTC', 'amount' => '1', 'address' => 'a', 'metadata' => []]);
    $c->testWebhook();
    same($s->asked[0][3], ['currency' => 'BTC,ETH', 'webhook' => 'h', 'amount' => 5]);
    same($s->asked[1][3]['metadata'], []);
    same($s->asked[2][3], []);
};

$tests['a list is read to its end'] = static function (): void {
    $s = new Service(
        success(['charges' => [['n' => 1]], 'nextCursor' => 'c2']),
        success(['charges' => [['n' => 2]]])
    );
    $since = new DateTimeImmutable('2026-01-01T01:00:00+01:00');
    $each = $s->client()->each('listCharges', ['from' => $since, 'attention' => true]);
    same(iterator_to_array($each, false), [['n' => 1], ['n' => 2]]);
    same(array_map(static fn (array $asked) => explode('?', $asked[1])[1], $s->asked), [
        'from=2026-01-01T00%3A00%3A00.000000Z&attention=true',
        'from=2026-01-01T00%3A00%3A00.000000Z&attention=true&cursor=c2',
    ]);
};

$tests['the feed ends where nothing is newer'] = static function (): void {
    $s = new Service(
        success(['events' => [['eventID' => '1']], 'next' => 'p1']),
        success(['events' => [], 'next' => 'p1'])
    );
    same(array_column(iterator_to_array($s->client()->feed(), false), 'eventID'), ['1']);
    same(substr($s->asked[1][1], -9), '?after=p1');
};

$tests['no print shows a key'] = static function (): void {
    $c = (new Service(new NoResponse('cut')))->client(['attempts' => 1]);
    $e = refused(NoResponse::class, static fn () => $c->withdraw(
        ['currency' => 'BTC', 'amount' => '1', 'address' => 'a']
    ));
    $key = OrderKey::ed25519(str_repeat('s', 32));
    foreach ([print_r($c, true), $e->getMessage(), (string) $e, print_r($key, true)] as $text) {
        foreach (['the-key', 'the-secret', str_repeat('s', 32)] as $secret) {
            same(strpos($text, $secret), false, $text);
        }
    }
    refused(LogicException::class, static fn () => serialize($c));
    refused(LogicException::class, static fn () => serialize($key));
};

$tests['redirects and cut answers'] = static function (): void {
    if (!function_exists('pcntl_fork')) { // as in WebAssembly
        echo "left out without pcntl: redirects and cut answers\n";
        return;
    }
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $url = 'http://' . stream_socket_get_name($server, false);
    $child = pcntl_fork();
    if ($child === 0) {
        foreach (["302 Found\r\nLocation: $url/elsewhere", '200 OK'] as $status) {
            $peer = stream_socket_accept($server, 20);
            while (trim((string) fgets($peer)) !== '') {
                continue;
            }
            fwrite($peer, "HTTP/1.1 $status\r\nContent-Length: 500\r\nConnection: close\r\n\r\n");
            fwrite($peer, strpos($status, '302') === 0 ? str_repeat(' ', 500) : '{"success":true,"response":{}}');
            fclose($peer);
        }
        posix_kill(getmypid(), SIGKILL); // nothing of the parent's runs here
    }
    fclose($server);
    $c = new Client(['baseURL' => $url, 'key' => 'k', 'attempts' => 1]);
    $e = refused(BursarError::class, static fn () => $c->getAccount());
    same($e->status, 302);
    refused(NoResponse::class, static fn () => $c->listRates());
    pcntl_waitpid($child, $status);
};

$tests['what is signed is read'] = static function (): void {
    [$headers, $body] = Webhook::sign(SECRET, EVENT, NOW);
    same(Webhook::verify(SECRET, $headers, $body, NOW + Webhook::TOLERANCE), EVENT);
    $headers['webhook-signature'] = 'v2,x v1,AAAA ' . $headers['webhook-signature'];
    $listed = [];
    foreach ($headers as $name => $value) {
        $listed[ucwords($name, '-')] = [$value];
    }
    same(Webhook::verify(SECRET, $listed, $body, NOW - Webhook::TOLERANCE), EVENT);
    $server = ['HTTP_WEBHOOK_ID' => $headers['webhook-id'], 'HTTP_WEBHOOK_TIMESTAMP' => (string) NOW,
        'HTTP_WEBHOOK_SIGNATURE' => $headers['webhook-signature'], 'argc' => 1];
    same(Webhook::verify(SECRET, Webhook::headers($server), $body, NOW), EVENT);
};

$tests['the vector of Standard Webhooks'] = static function (): void {
    $headers = [
        'webhook-id' => 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp' => '1614265330',
        'webhook-signature' => 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ];
    $secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    $verify = static fn () => Webhook::verify($secret, $headers, '{"test": 2432232314}', 1614265330);
    $e = refused(WebhookError::class, $verify);
    same($e->why, 'body'); // it is none of ours, so only the signature is valid
};

$tests['what must not be trusted is refused'] = static function (): void {
    [$headers, $body] = Webhook::sign(SECRET, EVENT, NOW);
    foreach ([
        ['signature', SECRET, [], "$body ", NOW],
        ['signature', SECRET, ['webhook-id' => 'other'], $body, NOW],
        ['signature', SECRET, ['webhook-timestamp' => (string) (NOW + 1)], $body, NOW],
        ['signature', 'whsec_b3RoZXI=', [], $body, NOW],
        ['signature', SECRET, ['webhook-signature' => substr($headers['webhook-signature'], 1)], $body, NOW],
        ['timestamp', SECRET, [], $body, NOW + Webhook::TOLERANCE + 1],
        ['timestamp', SECRET, [], $body, NOW - Webhook::TOLERANCE - 1],
        ['headers', SECRET, ['webhook-timestamp' => '-1'], $body, NOW],
        ['headers', SECRET, ['webhook-timestamp' => NOW . "\n"], $body, NOW],
        ['headers', SECRET, ['Webhook-ID' => 'twice'], $body, NOW],
        ['headers', SECRET, ['webhook-signature' => ''], $body, NOW],
        ['headers', SECRET, ['webhook-id' => ['a', 'b']], $body, NOW],
        ['secret', 'whsec_', [], $body, NOW],
        ['secret', substr(SECRET, 6), [], $body, NOW],
        ['secret', SECRET . '!', [], $body, NOW],
    ] as $at => [$why, $secret, $change, $text, $now]) {
        $verify = static fn () => Webhook::verify($secret, $change + $headers, $text, $now);
        same(refused(WebhookError::class, $verify)->why, $why, "case $at:");
    }
};

$tests['orders are those of the shared vectors'] = static function (): void {
    $vectors = json_decode(file_get_contents(__DIR__ . '/../vectors/orders.json'), true);
    $key = OrderKey::fromPEM($vectors['privateKey']);
    same($key->id(), $vectors['keyID']);
    $now = static fn (): int => NOW;
    $orders = new Orders(['key' => $key, 'now' => $now] + $vectors['orders']);
    $sign = static fn (array $p): array => $orders->sign(
        $p['currency'],
        $p['amount'],
        $p['address'],
        $p['idempotencyKey'],
        $p['created'],
        $p['maxFee'] ?? ''
    );
    foreach ($vectors['signed'] as $case) {
        same($sign($case['payment']), [$case['text'], $case['signature']], $case['name']);
    }
    foreach ($vectors['refused'] as $case) {
        refused(InvalidArgumentException::class, static fn () => $sign($case['payment']));
    }
    refused(InvalidArgumentException::class, static fn () => OrderKey::fromPEM("x$vectors[privateKey]"));
};

$tests['a client with orders signs what it sends'] = static function (): void {
    $vectors = json_decode(file_get_contents(__DIR__ . '/../vectors/orders.json'), true);
    $orders = new Orders(['key' => OrderKey::fromPEM($vectors['privateKey'])] + $vectors['orders']);
    $s = new Service(
        new NoResponse('cut'),
        success(['withdrawal' => []]),
        success(['charge' => [], 'withdrawal' => []]),
        success(['results' => []])
    );
    $c = $s->client(['orders' => $orders]);
    $case = $vectors['signed'][0];
    $p = $case['payment'];
    $values = ['currency' => $p['currency'], 'amount' => $p['amount'], 'address' => $p['address']];
    $options = ['idempotencyKey' => $p['idempotencyKey'], 'created' => $p['created'], 'maxFee' => $p['maxFee'] ?? ''];
    $c->withdraw($values, $options);
    $refund = ['chargeID' => 'c', 'depositID' => 'd', 'amount' => $p['amount'], 'address' => $p['address']];
    $c->refundCharge($refund, $options + ['currency' => $p['currency']]);
    $item = $values + ['reference' => $p['idempotencyKey'], 'created' => $p['created'], 'maxFee' => $options['maxFee']];
    $c->withdrawEach(['withdrawals' => [$item]]);
    foreach ([0, 1, 2] as $at) {
        same($s->asked[$at][3]['order'], $case['text']);
        same($s->asked[$at][2]['Bursar-Signature'], $case['signature']);
    }
    same($s->asked[3][3]['withdrawals'], [
        $values + ['reference' => $p['idempotencyKey'], 'order' => $case['text'], 'signature' => $case['signature']],
    ]);
    unset($refund['amount']);
    refused(InvalidArgumentException::class, static fn () => $c->refundCharge($refund, ['currency' => 'BTC']));
    refused(InvalidArgumentException::class, static fn () => $c->withdrawEach(['withdrawals' => [$values]]));
};

$failed = 0;
foreach ($tests as $name => $test) {
    try {
        $test();
    } catch (Throwable $thrown) {
        $failed++;
        echo "FAIL $name: $thrown\n";
    }
}
echo count($tests) - $failed, ' of ', count($tests), " tests pass\n";
exit($failed === 0 ? 0 : 1);
