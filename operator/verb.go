package operator

import (
	"fmt"
	"slices"
)

// Verb is one thing that a person may be allowed to do, such as "withdrawal.approve".
type Verb string

// The verbs.
const (
	VerbRead                Verb = "read"
	VerbAudit               Verb = "audit.read"
	VerbChargeResolve       Verb = "charge.resolve"
	VerbRefundPropose       Verb = "refund.propose"
	VerbWebhookRedeliver    Verb = "webhook.redeliver"
	VerbWithdrawalApprove   Verb = "withdrawal.approve"
	VerbWithdrawalReject    Verb = "withdrawal.reject"
	VerbWithdrawalCancel    Verb = "withdrawal.cancel"
	VerbHalt                Verb = "chain.halt"
	VerbResume              Verb = "chain.resume"
	VerbRescan              Verb = "chain.rescan"
	VerbUnattributedResolve Verb = "unattributed.resolve"
	VerbAlarmClose          Verb = "alarm.close"
	VerbAccountFreeze       Verb = "account.freeze"
	VerbKeyRevoke           Verb = "key.revoke"
	VerbTreasuryPropose     Verb = "treasury.propose"
	VerbPeople              Verb = "people.change"
	VerbLimits              Verb = "limits.change"
)

// Role is a named set of verbs.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"
	Support  Role = "support"
	Operator Role = "operator"
	Approver Role = "approver"
	Admin    Role = "admin"
	Auditor  Role = "auditor"
)

// Roles lists every role, the weakest first.
func Roles() []Role { return []Role{Viewer, Auditor, Support, Operator, Approver, Admin} }

// Verbs returns what a role may do; nothing for an unknown one. An admin has no right to approve by being an admin.
func (r Role) Verbs() []Verb {
	switch r {
	case Viewer:
		return []Verb{VerbRead}
	case Auditor:
		return []Verb{VerbRead, VerbAudit}
	case Support:
		return []Verb{VerbRead, VerbChargeResolve, VerbRefundPropose, VerbWebhookRedeliver}
	case Operator:
		return []Verb{VerbRead, VerbHalt, VerbResume, VerbRescan, VerbUnattributedResolve, VerbAlarmClose, VerbAccountFreeze,
			VerbWebhookRedeliver, VerbTreasuryPropose, VerbWithdrawalCancel}
	case Approver:
		return []Verb{VerbRead, VerbWithdrawalApprove, VerbWithdrawalReject}
	case Admin:
		return []Verb{VerbRead, VerbAudit, VerbPeople, VerbKeyRevoke, VerbLimits, VerbHalt, VerbAccountFreeze}
	}
	return nil
}

// Strong reports whether a second person must agree before somebody gets the role.
func (r Role) Strong() bool { return r == Approver || r == Admin }

// ParseRoles returns roles without doubles, in the order of Roles. It fails for an unknown role and for none.
func ParseRoles(names []string) ([]Role, error) {
	for _, name := range names {
		if !slices.Contains(Roles(), Role(name)) {
			return nil, fmt.Errorf("%.40q is not a role; the roles are %v", name, Roles())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("a role is missing; the roles are %v", Roles())
	}
	var roles []Role
	for _, r := range Roles() {
		if slices.Contains(names, string(r)) {
			roles = append(roles, r)
		}
	}
	return roles, nil
}
