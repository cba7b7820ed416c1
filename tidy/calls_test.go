package tidy_test

import (
	"cmp"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// calls says which functions of some packages use which, as the types say: a method of another type with the same name
// is another function. Packages outside of the module are empty to it, except those of generic functions, so what is
// called through their types is not seen.
type calls struct {
	t        *testing.T
	packages []string // whose functions are read; of others only what they declare
	files    *token.FileSet
	checked  map[string]*types.Package
	info     *types.Info
	uses     map[types.Object][]types.Object // what a function, or a variable of a package, mentions
	concrete []*types.Func                   // the methods of types that are no interfaces
}

func newCalls(t *testing.T, packages ...string) *calls {
	c := &calls{t: t, packages: packages, files: token.NewFileSet(), checked: map[string]*types.Package{},
		uses: map[types.Object][]types.Object{}, info: &types.Info{Uses: map[*ast.Ident]types.Object{},
			Defs: map[*ast.Ident]types.Object{}}}
	for _, pkg := range packages {
		if _, err := c.Import(path.Join(module, pkg)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// generic lists the packages outside of the module that are read: without them the types of loops are not known.
var generic = []string{"cmp", "iter", "maps", "slices"}

// Import implements types.Importer.
func (c *calls) Import(name string) (*types.Package, error) {
	if p := c.checked[name]; p != nil {
		return p, nil
	}
	folder, inside := strings.CutPrefix(name+"/", module+"/")
	if !inside && slices.Contains(generic, name) {
		folder = filepath.Join(build.Default.GOROOT, "src", name)
	} else if !inside {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		c.checked[name] = p
		return p, nil
	}
	files, err := c.parse(cmp.Or(folder, "."))
	if err != nil {
		return nil, err
	}
	read := inside && slices.Contains(c.packages, path.Clean(folder))
	// What comes from empty packages is an error each time; what is left has its types.
	config := types.Config{Importer: c, Error: func(error) {}, DisableUnusedImportCheck: true, IgnoreFuncBodies: !read}
	p, _ := config.Check(name, c.files, files, c.info)
	c.checked[name] = p
	for _, f := range files {
		for _, d := range f.Decls {
			if read {
				c.collect(d)
			}
		}
	}
	return p, nil
}

func (c *calls) parse(folder string) (files []*ast.File, err error) {
	list, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range list.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(folder, name), nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// collect notes what the functions and variables of a declaration mention.
func (c *calls) collect(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		f, is := c.info.Defs[d.Name].(*types.Func)
		if !is {
			return
		}
		c.note(f, d.Body)
		if f.Signature().Recv() != nil {
			c.concrete = append(c.concrete, f)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			v, is := spec.(*ast.ValueSpec)
			if !is || d.Tok != token.VAR {
				continue
			}
			for _, name := range v.Names {
				for _, value := range v.Values {
					c.note(c.info.Defs[name], value)
				}
			}
		}
	}
}

func (c *calls) note(from types.Object, n ast.Node) {
	if from == nil || n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if name, is := n.(*ast.Ident); is {
			switch to := c.info.Uses[name].(type) {
			case *types.Func:
				c.uses[from] = append(c.uses[from], to.Origin())
			case *types.Var:
				if !to.IsField() {
					c.uses[from] = append(c.uses[from], to)
				}
			}
		}
		return true
	})
}

// reached returns what a function uses, directly or through others of its package. A method of an interface stands for
// those of the types that have all its methods.
func (c *calls) reached(from types.Object) map[types.Object]bool {
	seen, queue := map[types.Object]bool{}, []types.Object{from}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, used := range c.uses[next] {
			for _, to := range append(c.implementing(used), used) {
				if seen[to] {
					continue
				}
				seen[to] = true
				if to.Pkg() == from.Pkg() {
					queue = append(queue, to)
				}
			}
		}
	}
	return seen
}

// implementing returns the methods that a call of a method of an interface may reach; nothing for any other function.
func (c *calls) implementing(used types.Object) (list []types.Object) {
	f, is := used.(*types.Func)
	if !is || f.Signature().Recv() == nil {
		return nil
	}
	wanted, is := f.Signature().Recv().Type().Underlying().(*types.Interface)
	if !is {
		return nil
	}
	for _, method := range c.concrete {
		if method.Name() != f.Name() {
			continue
		}
		has := types.NewMethodSet(types.NewPointer(deref(method.Signature().Recv().Type())))
		all := true
		for i := range wanted.NumMethods() {
			m := wanted.Method(i)
			all = all && has.Lookup(m.Pkg(), m.Name()) != nil
		}
		if all {
			list = append(list, method)
		}
	}
	return list
}

func deref(t types.Type) types.Type {
	if p, is := t.(*types.Pointer); is {
		return p.Elem()
	}
	return t
}

// find returns the function that a walk names: "Name", or "Type.Name" for a method. It is the one of that name in the
// file, or else in the file's package; several or none are all that there are.
func (c *calls) find(s stop) []types.Object {
	all := c.named(path.Dir(s.file), s.function)
	here := slices.DeleteFunc(slices.Clone(all), func(o types.Object) bool { return c.fileOf(o) != s.file })
	if len(here) > 0 {
		return here
	}
	return all
}

// named returns the functions of a name in a package.
func (c *calls) named(pkg, name string) (list []types.Object) {
	p := c.checked[path.Join(module, pkg)]
	of, method, qualified := strings.Cut(name, ".")
	for _, one := range p.Scope().Names() {
		switch o := p.Scope().Lookup(one).(type) {
		case *types.Func:
			if one == name {
				list = append(list, o)
			}
		case *types.TypeName:
			named, is := o.Type().(*types.Named)
			if !is || qualified && one != of {
				continue
			}
			for i := range named.NumMethods() {
				if m := named.Method(i); m.Name() == name || qualified && m.Name() == method {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// fileOf returns the file that declares a function.
func (c *calls) fileOf(o types.Object) string {
	return filepath.ToSlash(c.files.Position(o.Pos()).Filename)
}
