<?php

declare(strict_types=1);

// php test.php, in this folder.

require __DIR__ . '/test/fake.php';
require __DIR__ . '/../php/autoload.php';

spl_autoload_register(static function (string $class): void {
    require __DIR__ . '/includes/' . substr($class, strlen('Bursar\\WooCommerce\\')) . '.php';
});

use Bursar\Client;
use Bursar\NoResponse;
use Bursar\Webhook;
use Bursar\WooCommerce\Charges;
use Bursar\WooCommerce\Decimal;
use Bursar\WooCommerce\Gateway;
use Bursar\WooCommerce\Settings;
use Bursar\WooCommerce\States;
use Bursar\WooCommerce\Webhooks;

error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    throw new ErrorException($message, 0, $level, $file, $line);
});

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA==';
const NOW = 1800000000;

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

/** A service in memory: its charges are known by their references. */
final class FakeService
{
    public $charges = [];
    public $asked = [];
    public $lost = []; // how many answers of a path get lost behind the change
    public $refused = []; // how the next requests of a path are refused, before anything is done: status and code
    public $made = []; // refunds by idempotency key
    public $attempts = 1; // of a call

    public function settings(array $more = []): Settings
    {
        $values = $more + [
            'url' => 'https://pay.example',
            'key' => 'k',
            'secret' => 's',
            'webhook_secret' => SECRET,
            'currencies' => 'BTC, USDT',
            'expires' => '900',
        ];
        return new Settings($values, fn (array $config): Client => new Client(
            ['transport' => [$this, 'answer'], 'attempts' => $this->attempts, 'sleep' => static function (): void {
            }] + $config
        ));
    }

    public function gateway(array $more = []): Gateway
    {
        return new Gateway(fn (): Settings => $this->settings($more));
    }

    public function answer(string $method, string $url, array $headers, ?string $body): array
    {
        $parts = parse_url($url);
        $path = substr($parts['path'], strlen('/api/v1/'));
        parse_str($parts['query'] ?? '', $query);
        $values = $method === 'GET' ? $query : json_decode((string) $body, true);
        $this->asked[] = [$path, $values, $headers['Idempotency-Key'] ?? ''];
        if (($this->refused[$path] ?? []) !== [] && ($this->lost[$path] ?? 0) === 0) {
            return self::refuse(...array_shift($this->refused[$path]));
        }
        $answer = $this->act("$method $path", $values, $headers['Idempotency-Key'] ?? '');
        if (($this->lost[$path] ?? 0) > 0) {
            $this->lost[$path]--;
            throw new NoResponse('cut');
        }
        return $answer;
    }

    private function act(string $what, array $v, string $key): array
    {
        if ($what === 'POST charge') {
            $terms = json_encode($v);
            $known = $this->charges[$v['reference']] ?? null;
            if ($known !== null && $known['terms'] !== $terms) {
                return self::refuse(409, 'idempotency_conflict');
            }
            $this->charges[$v['reference']] = $known ?? ['terms' => $terms] + charge($v);
            return self::success(['charge' => $this->charges[$v['reference']]]);
        }
        foreach ($this->charges as $reference => $charge) {
            if ($charge['chargeID'] !== $v['chargeID']) {
                continue;
            }
            if ($what === 'POST charge/cancel') {
                $this->charges[$reference]['status'] = 'cancelled';
            }
            if ($what === 'POST charge/refund') {
                return $this->refund($reference, $v, $key);
            }
            return self::success(['charge' => $this->charges[$reference]]);
        }
        return self::refuse(404, 'not_found');
    }

    private function refund(string $reference, array $v, string $key): array
    {
        if (!isset($this->made[$key])) {
            $this->made[$key] = 'w' . (count($this->made) + 1);
            $this->charges[$reference]['refunds'][] = ['withdrawalID' => $this->made[$key], 'amount' => $v['amount'],
                'depositID' => $v['depositID'], 'currency' => 'BTC', 'status' => 'queued', 'createdAt' => ''];
        }
        $withdrawal = ['withdrawalID' => $this->made[$key]];
        return self::success(['charge' => $this->charges[$reference], 'withdrawal' => $withdrawal]);
    }

    public static function success(array $response): array
    {
        return [200, [], json_encode(['success' => true, 'response' => $response])];
    }

    public static function refuse(int $status, string $code): array
    {
        return [$status, [], json_encode(['success' => false, 'error' => ['code' => $code, 'message' => $code]])];
    }
}

/** Returns a charge as the service writes it. */
function charge(array $terms): array
{
    $id = 'charge of ' . $terms['reference'];
    return [
        'chargeID' => $id, 'rule' => 'sum', 'status' => 'open', 'labels' => [], 'attention' => false, 'version' => 1,
        'reference' => $terms['reference'], 'metadata' => $terms['metadata'],
        'required' => ['amount' => $terms['price'], 'currency' => $terms['priceCurrency']],
        'received' => '0.00', 'pending' => '0.00', 'due' => $terms['price'], 'over' => '0.00', 'payments' => [],
        'refunds' => [], 'refundAddresses' => [], 'checkoutURL' => "https://pay.example/pay/$id",
    ];
}

/** Delivers a webhook about a charge and returns the status of the answer. */
function deliver(FakeService $service, array $charge, string $secret = SECRET, string $type = 'charge'): int
{
    static $number = 0;
    $event = ['eventID' => 'e' . ++$number, 'type' => $type, 'event' => 'any', 'charge' => $charge];
    [$headers, $body] = Webhook::sign($secret, $event, NOW);
    $server = [];
    foreach ($headers as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    return (new Webhooks($service->settings()))->receive($server, $body, NOW);
}

/** Places an order and returns its number with its charge. */
function place(FakeService $service, array $order = []): array
{
    $id = WC_Order::create($order)->get_id();
    same($service->gateway()->process_payment($id)['result'], 'success');
    return [$id, end($service->charges)];
}

function status(int $order): string
{
    return Shop::$orders[$order]['status'];
}

function lastNote(int $order): string
{
    return (string) (array_slice(Shop::$orders[$order]['notes'], -1)[0] ?? '');
}

const PAYMENT = ['depositID' => 'd1', 'hashID' => 'ab12', 'currency' => 'BTC', 'amount' => '0.00040000',
    'rate' => '50000', 'value' => '20.00', 'counted' => true, 'attention' => false, 'refundable' => '0.00040000',
    'status' => 'confirmed'];
const PAID = ['status' => 'paid', 'received' => '20.00', 'due' => '0.00', 'payments' => [PAYMENT]];
const ADDRESS = ['currency' => 'BTC', 'address' => 'bc1qpayer', 'tag' => null, 'named' => 1, 'locked' => false];

$tests = [];

$tests['an order becomes a charge of its price, once'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    $result = $service->gateway()->process_payment($id);
    same($result['redirect'], $charge['checkoutURL']);
    same(count($service->charges), 1);
    $terms = $service->asked[0][1];
    same([$terms['currency'], $terms['price'], $terms['priceCurrency']], ['BTC,USDT', '20.00', 'EUR']);
    same([$terms['webhook'], $terms['redirectSuccess']],
        ['https://shop.example/wc-api/bursar/', 'https://shop.example/thanks/1']);
    same(preg_match('/^wc-1-[0-9a-f]{16}-1$/', $terms['reference']), 1);
    same(status($id), 'pending');
};

$tests['an answer that was lost is the same charge'] = static function (): void {
    $service = new FakeService();
    $service->lost['charge'] = 1;
    $id = WC_Order::create([])->get_id();
    same($service->gateway()->process_payment($id)['result'], 'failure');
    same(count(Shop::$notices), 1);
    same($service->gateway()->process_payment($id)['result'], 'success');
    same(count($service->charges), 1);
};

$tests['another price is another charge, and the old one is cancelled'] = static function (): void {
    $service = new FakeService();
    [$id, $first] = place($service);
    Shop::$orders[$id]['total'] = '25.00';
    same($service->gateway()->process_payment($id)['result'], 'success');
    same(array_column($service->charges, 'status'), ['cancelled', 'open']);
    same(end($service->charges)['required']['amount'], '25.00');
    // Its end, and money that comes to it nevertheless, belong to the order.
    deliver($service, ['status' => 'cancelled', 'version' => 2] + $first);
    same(status($id), 'pending');
    deliver($service, ['status' => 'cancelled', 'version' => 3, 'received' => '20.00', 'attention' => true,
        'labels' => ['late']] + $first);
    same(status($id), 'on-hold');
};

$tests['another price behind a lost answer is another charge'] = static function (): void {
    $service = new FakeService();
    $service->lost['charge'] = 1;
    $id = WC_Order::create([])->get_id();
    $service->gateway()->process_payment($id);
    Shop::$orders[$id]['total'] = '25.00';
    same($service->gateway()->process_payment($id)['result'], 'success');
    same(end($service->charges)['required']['amount'], '25.00');
    same(substr(end($service->charges)['reference'], -2), '-2');
};

$tests['money that does not pay the order is not asked for again'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    $service->charges[$charge['reference']] = ['status' => 'expired', 'received' => '5.00'] + $charge;
    same($service->gateway()->process_payment($id)['result'], 'failure');
    same(count($service->charges), 1);
};

$tests['an expired charge is followed by another one'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    deliver($service, ['status' => 'expired', 'version' => 2] + $charge);
    same(status($id), 'failed');
    $service->charges[$charge['reference']] = ['status' => 'expired'] + $charge;
    same($service->gateway()->process_payment($id)['result'], 'success');
    same(count($service->charges), 2);
};

$tests['an order follows its charge'] = static function (): void {
    foreach ([
        'paid' => [PAID, 'processing', 'Paid by 0.00040000 BTC in ab12.'],
        'seen' => [['status' => 'confirming', 'pending' => '20.00'], 'on-hold', 'waits for confirmations'],
        'partly' => [['received' => '5.00', 'due' => '15.00', 'labels' => ['partial']], 'on-hold', '15.00 are due'],
        'partly, and ended' => [['status' => 'expired', 'received' => '5.00', 'labels' => ['partial'],
            'attention' => true], 'on-hold', 'waits for your decision (partial)'],
        'late' => [['status' => 'expired', 'received' => '0.00', 'labels' => ['late'], 'attention' => true], 'on-hold',
            'waits for your decision (late)'],
        'over' => [['over' => '3.00', 'labels' => ['over'], 'attention' => true] + PAID, 'processing', '3.00 EUR more'],
        'another price' => [['required' => ['amount' => '19.99', 'currency' => 'EUR']] + PAID, 'on-hold', 'compare'],
        'another currency' => [['required' => ['amount' => '20.00', 'currency' => 'HUF']] + PAID, 'on-hold', 'compare'],
        'expired' => [['status' => 'expired'], 'failed', 'expired unpaid'],
        'open' => [[], 'pending', ''],
    ] as $name => [$change, $status, $note]) {
        Shop::reset();
        $service = new FakeService();
        [$id, $charge] = place($service);
        same(deliver($service, $change + ['version' => 2] + $charge), 204, $name);
        $noted = $note === '' || strpos(lastNote($id), $note) !== false;
        same([status($id), $noted], [$status, true], "$name, with the note '" . lastNote($id) . "':");
    }
};

$tests['events come again and in any order'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    foreach ([3, 3, 2, 1] as $version) {
        $change = $version === 3 ? PAID : ['status' => 'expired'];
        same(deliver($service, $change + ['version' => $version] + $charge), 204);
    }
    same([status($id), Shop::$orders[$id]['completed'], count(Shop::$orders[$id]['notes'])], ['processing', 1, 1]);
};

$tests['a process that died behind the payment completes it once'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    deliver($service, PAID + ['version' => 2] + $charge);
    unset(Shop::$orders[$id]['meta'][States::PAID_BY], Shop::$orders[$id]['meta'][States::VERSIONS]);
    deliver($service, PAID + ['version' => 2] + $charge);
    same([Shop::$orders[$id]['completed'], count(Shop::$orders[$id]['notes'])], [1, 1]);
    same(Shop::$orders[$id]['meta'][States::PAID_BY], $charge['chargeID']);
};

$tests['a payment that is reorged out stops the order'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    deliver($service, PAID + ['version' => 2] + $charge);
    Shop::$orders[$id]['status'] = 'completed';
    deliver($service, ['labels' => ['reversed'], 'attention' => true, 'version' => 3] + $charge);
    same([status($id), strpos(lastNote($id), 'Do not deliver') !== false], ['on-hold', true]);
    deliver($service, PAID + ['version' => 4] + $charge);
    same(status($id), 'processing');
};

$tests['what the shop decided about a paid order stays'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    deliver($service, PAID + ['version' => 2] + $charge);
    Shop::$orders[$id]['status'] = 'cancelled';
    deliver($service, ['labels' => ['part_refunded'], 'version' => 3] + PAID + $charge);
    same(status($id), 'cancelled');
};

$tests['a cancelled order that is paid waits for the shop'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    Shop::$orders[$id]['status'] = 'cancelled';
    deliver($service, PAID + ['version' => 2] + $charge);
    same([status($id), Shop::$orders[$id]['transaction']], ['on-hold', $charge['chargeID']]);
};

$tests['an order that another method took is left alone'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    [Shop::$orders[$id]['method'], Shop::$orders[$id]['status']] = ['bacs', 'on-hold'];
    deliver($service, ['status' => 'expired', 'version' => 2] + $charge);
    same(status($id), 'on-hold');
    Shop::$orders[$id]['status'] = 'processing';
    deliver($service, PAID + ['version' => 3] + $charge);
    same([status($id), strpos(lastNote($id), 'once more') !== false], ['processing', true]);
};

$tests['what must not be trusted changes nothing'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    $paid = PAID + ['version' => 2] + $charge;
    same(deliver($service, $paid, 'whsec_b3RoZXI='), 400);
    same(deliver($service, $paid, SECRET, 'wallet'), 204);
    same(deliver($service, ['rule' => 'other'] + $paid), 204);
    foreach (['wc-1-0000000000000000-1', 'wc-2-0000000000000000-1', 'order 1', ''] as $reference) {
        same(deliver($service, ['reference' => $reference] + $paid), 204);
    }
    same([status($id), Shop::$orders[$id]['notes']], ['pending', []]);
};

$tests['an event that another process works on comes again'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    $before = Shop::$locks;
    Shop::$locks[substr(hash('sha256', DB_NAME . 'wp_'), 0, 16) . "-bursar-$id"] = true;
    same(deliver($service, PAID + ['version' => 2] + $charge), 503);
    same(status($id), 'pending');
    Shop::$locks = $before;
    same(deliver($service, PAID + ['version' => 2] + $charge), 204);
    same([status($id), Shop::$locks], ['processing', []]);
};

/** Places an order that is paid, and whose payer named an address. */
function placePaid(FakeService $service, array $change = []): int
{
    [$id, $charge] = place($service);
    deliver($service, PAID + ['version' => 2] + $charge);
    $service->charges[$charge['reference']] = $change + ['refundAddresses' => [ADDRESS]] + PAID + $charge;
    return $id;
}

$tests['a refund is paid to the address that the payer named'] = static function (): void {
    $service = new FakeService();
    $id = placePaid($service);
    $gateway = $service->gateway();
    same($gateway->can_refund_order(wc_get_order($id)), true);
    same($gateway->process_refund($id, 5.0), true);
    [$path, $values] = end($service->asked);
    same([$path, $values['amount'], $values['address'], $values['depositID']],
        ['charge/refund', '0.00010000', 'bc1qpayer', 'd1']);
    same(strpos(lastNote($id), 'withdrawal w1') !== false, true);
    same($gateway->process_refund($id, 5.0), true); // a second refund
    same([count($service->made), Shop::$orders[$id]['meta'][Bursar\WooCommerce\Refunds::PENDING] ?? ''], [2, '']);
};

$tests['a whole payment is refunded to the last unit'] = static function (): void {
    $cases = ['0.00040000' => '0.00040000', '0.00039999' => '0.00039999', '0.00041000' => '0.00040000'];
    foreach ($cases as $left => $want) {
        $service = new FakeService();
        $payment = ['amount' => $left, 'refundable' => $left, 'rate' => '50001.2'] + PAYMENT; // that is 0.000399990…
        $id = placePaid($service, ['payments' => [$payment]]);
        same($service->gateway()->process_refund($id, '20.00'), true);
        same(end($service->asked)[1]['amount'], $want);
    }
};

$tests['a refund whose answer was lost is made once'] = static function (): void {
    $service = new FakeService();
    $id = placePaid($service);
    $service->lost['charge/refund'] = 1;
    same(get_class($service->gateway()->process_refund($id, '5')), 'WP_Error');
    $other = $service->gateway()->process_refund($id, '6');
    same(strpos($other->get_error_message(), 'by withdrawal w1: record that first') !== false, true);
    same(count($service->made), 1);
};

$tests['the same refund asked for again is the one that was made'] = static function (): void {
    $service = new FakeService();
    $id = placePaid($service);
    $service->lost['charge/refund'] = 1;
    $service->gateway()->process_refund($id, '5');
    same($service->gateway()->process_refund($id, '5.00'), true);
    same([count($service->made), strpos(lastNote($id), 'withdrawal w1') !== false], [1, true]);
};

// The answer of the first attempt is lost behind the refund, and the next attempt is refused for what has nothing to do
// with it: the refund may be there, and is not asked for as another one.
$tests['a refusal behind a lost answer does not say that nothing was refunded'] = static function (): void {
    foreach ([[429, 'rate_limited'], [401, 'unauthorized'], [403, 'forbidden'], [403, 'invalid_secret']] as $refusal) {
        Shop::reset();
        $service = new FakeService();
        $id = placePaid($service);
        [$service->attempts, $service->lost['charge/refund']] = [3, 1];
        $service->refused['charge/refund'] = [$refusal, $refusal];
        same(get_class($service->gateway()->process_refund($id, '5')), 'WP_Error', $refusal[1]);
        $service->refused = [];
        same($service->gateway()->process_refund($id, '5'), true, $refusal[1]);
        same(count($service->made), 1, "$refusal[1]: refunds");
    }
};

$tests['a refund that was refused can be asked for in another way'] = static function (): void {
    $service = new FakeService();
    $id = placePaid($service);
    $service->refused['charge/refund'] = [[422, 'insufficient_balance']];
    same(get_class($service->gateway()->process_refund($id, '5')), 'WP_Error');
    same($service->gateway()->process_refund($id, '4'), true);
    same(count($service->made), 1);
};

// A refund whose answer was lost was rejected meanwhile: the payer has got nothing, and the shop books nothing.
$tests['a refund that paid nothing is not recorded'] = static function (): void {
    foreach (['rejected', 'cancelled', 'failed'] as $status) {
        Shop::reset();
        $service = new FakeService();
        $id = placePaid($service);
        $service->lost['charge/refund'] = 1;
        $service->gateway()->process_refund($id, '5');
        foreach ($service->charges as $reference => $charge) {
            $service->charges[$reference]['refunds'][0]['status'] = $status;
        }
        $error = $service->gateway()->process_refund($id, '5');
        same(get_class((object) $error), 'WP_Error', $status);
        same(strpos($error->get_error_message(), "withdrawal w1, is $status") !== false, true, $status);
        same($service->gateway()->process_refund($id, '5'), true, $status); // another one
        same(count($service->made), 2, $status);
    }
};

$tests['an order that could not be completed comes again'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    Shop::$failing = true;
    same(deliver($service, PAID + ['version' => 2] + $charge), 503);
    same(status($id), 'pending');
    Shop::$failing = false;
    same(deliver($service, PAID + ['version' => 2] + $charge), 204);
    same([status($id), Shop::$orders[$id]['completed']], ['processing', 1]);
};

$tests['a refund that cannot be meant is refused'] = static function (): void {
    foreach ([
        'no address' => ['refundAddresses' => []],
        'an address of another currency' => ['refundAddresses' => [['currency' => 'ETH'] + ADDRESS]],
        'an address that was changed' => ['refundAddresses' => [['named' => 2] + ADDRESS]],
        'nothing left' => ['payments' => [['refundable' => '0.00000000'] + PAYMENT]],
        'too much' => ['payments' => [['refundable' => '0.00000001'] + PAYMENT]],
        'no rate' => ['payments' => [['rate' => null] + PAYMENT]],
    ] as $name => $change) {
        Shop::reset();
        $service = new FakeService();
        $id = placePaid($service, $change);
        same(get_class($service->gateway()->process_refund($id, '5')), 'WP_Error', $name);
        same($service->made, [], $name);
    }
    same($service->gateway(['secret' => ''])->can_refund_order(wc_get_order($id)), false);
};

$tests['all that was paid is refunded elsewhere'] = static function (): void {
    $service = new FakeService();
    [$id, $charge] = place($service);
    deliver($service, PAID + ['version' => 2] + $charge);
    deliver($service, ['labels' => ['refunded'], 'version' => 3] + PAID + $charge);
    same(status($id), 'refunded');
    deliver($service, ['labels' => ['refunded'], 'version' => 4] + PAID + $charge);
    same(status($id), 'refunded');
    [$id, $charge] = place($service);
    deliver($service, ['received' => '5.00', 'version' => 2] + $charge);
    $ended = ['status' => 'expired', 'received' => '5.00', 'labels' => ['refunded'], 'version' => 3];
    deliver($service, $ended + $charge);
    same(status($id), 'cancelled');
};

$tests['the method is offered once it is set up'] = static function (): void {
    $service = new FakeService();
    Shop::$options['woocommerce_bursar_settings'] = ['enabled' => 'yes'];
    foreach (['url', 'key', 'webhook_secret', 'currencies'] as $name) {
        same($service->gateway([$name => ' '])->is_available(), false, $name);
        same($service->gateway([$name => ''])->needs_setup(), true, $name);
    }
    same($service->gateway()->is_available(), true);
    same(strpos(print_r($service->settings(), true), SECRET), false);
};

$tests['decimals are exact'] = static function (): void {
    foreach ([
        ['5', '50000', 8, '0.00010000'],
        ['20.00', '50001.2', 8, '0.00039999'],
        ['1', '3', 18, '0.333333333333333333'],
        ['123456789.12', '0.000000000000000001', 0, '123456789120000000000000000'],
        ['0', '7', 2, '0.00'],
    ] as [$a, $b, $decimals, $want]) {
        same(Decimal::divide($a, $b, $decimals), $want);
    }
    foreach ([['1', '3', 2, '0.34'], ['1', '2', 1, '0.5'], ['999', '1000', 2, '1.00']] as [$a, $b, $decimals, $want]) {
        same(Decimal::divide($a, $b, $decimals, true), $want);
    }
    foreach ([['1.0', '1', 0], ['0.1', '0.09', 1], ['9', '10', -1], ['0', '0.00', 0]] as [$a, $b, $want]) {
        same(Decimal::compare($a, $b) <=> 0, $want, "$a and $b");
    }
    foreach (['1e3', '-1', '', '1.', "1\n"] as $text) {
        try {
            Decimal::places($text);
        } catch (InvalidArgumentException $refused) {
            continue;
        }
        throw new Exception("'$text' is taken as a decimal, want an error");
    }
};

$failed = 0;
foreach ($tests as $name => $test) {
    Shop::reset();
    try {
        $test();
    } catch (Throwable $thrown) {
        $failed++;
        echo "FAIL $name: $thrown\n";
    }
}
echo count($tests) - $failed, ' of ', count($tests), " tests pass\n";
exit($failed === 0 ? 0 : 1);
