<?php

declare(strict_types=1);

namespace Bursar;

use RuntimeException;

/** A response of the service, or of something in front of it, that is no success. A refused change was not made. */
final class BursarError extends RuntimeException
{
    /** @var int of the response */
    public $status;

    /** @var string its meaning never changes; '': the answer is not the service's own, such as a proxy's */
    public $errorCode;

    /** @var string for people to read */
    public $reason;

    /** @var string the parameter at fault; '': none */
    public $field;

    /** @var string the path of the service's own page about the code */
    public $docs;

    /** @var string names the request in the service's log */
    public $requestID;

    /** @var float seconds to wait before the next attempt; 0 where the response does not say */
    public $retryAfter;

    /** @var string the scope that a request needs which is forbidden; '': it is refused for something else */
    public $permission;

    /** @var string of a change; '' of a GET */
    public $idempotencyKey = '';

    /** @param array<string, mixed> $said the error as the service writes it */
    public function __construct(int $status, array $said, string $requestID, float $retryAfter)
    {
        $text = static fn (string $name): string => is_string($said[$name] ?? null) ? $said[$name] : '';
        $this->status = $status;
        $this->errorCode = $text('code');
        $this->reason = $text('message');
        $this->field = $text('field');
        $this->docs = $text('docs');
        $this->permission = $text('permission');
        $this->requestID = $requestID;
        $this->retryAfter = $retryAfter;
        $code = $this->errorCode === '' ? '' : ", $this->errorCode";
        $field = $this->field === '' ? '' : " ($this->field)";
        parent::__construct("status $status$code$field: $this->reason");
    }
}
